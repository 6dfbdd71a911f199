package dev.pgapply.worker.apply;

import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpooledChanges;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The parallel apply workers as the leader apply worker sees them (applyparallelworker.c, "pa_" functions of the leader). Called on
 * the leader's thread only.
 */
public interface ParallelApplyWorkers {

    /** Where there are none: every streamed transaction is spooled. */
    ParallelApplyWorkers NONE = new ParallelApplyWorkers() {

        @Override
        public boolean mustSpool(Xid xid) {
            return false;
        }

        @Override
        public @Nullable Worker assign(Xid xid) {
            return null;
        }

        @Override
        public boolean awaitCommitted(BooleanSupplier givenUp) {
            return !givenUp.getAsBoolean();
        }

        @Override
        public void throwFailure() {}
    };

    /** Whether the transaction has failed in a worker before, or was part of a wait cycle. */
    boolean mustSpool(Xid xid);

    /** A worker for a transaction that begins to be streamed; null if none is free. */
    @Nullable
    Worker assign(Xid xid);

    /**
     * Waits until everything that was handed to the leader's apply session is committed: what a worker gets next may depend on it.
     *
     * @return false if it was given up
     */
    boolean awaitCommitted(BooleanSupplier givenUp);

    /** Throws what ended one of the workers, if something has. */
    void throwFailure();

    /** A worker with a transaction. Each call throws what ended the worker, if something has. */
    interface Worker {

        /** From 1; as its thread and its session are named. */
        int number();

        /**
         * Sends a message of the transaction.
         *
         * @param buffer has it, and is kept: nobody writes to it any more
         * @return false if the worker's queue stayed full for {@code stream_send_timeout}; nothing was sent then
         */
        boolean send(byte[] buffer, int offset, int length, BooleanSupplier givenUp);

        /**
         * Has the worker undo a subtransaction.
         *
         * @return false as of {@link #send}
         */
        boolean sendAbort(Xid subxid, BooleanSupplier givenUp);

        /**
         * Has the worker commit, and waits for it. Afterwards the worker is free, and the commit is noted where the leader's own are.
         *
         * @param rest what the worker has to read from the spool first, null if it was sent everything
         * @return false if the wait was given up: the outcome is unknown, and the life of the subscription ends
         */
        boolean commit(StreamCommit commit, @Nullable SpooledChanges rest, BooleanSupplier givenUp);

        /** The same with PREPARE TRANSACTION; whose intent and progress are the caller's to record. */
        boolean prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, BooleanSupplier givenUp);

        /** Has the worker undo the transaction, and waits for it. Afterwards the worker is free. */
        void rollback(BooleanSupplier givenUp);

        /** How many subtransactions have changes that are not undone. */
        int subxactCount();
    }
}
