package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.BeginPrepare;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.Prepare;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages of prepared transactions (worker.c, apply_handle_begin_prepare, _prepare, _commit_prepared, _rollback_prepared), on the
 * leader's side: a prepared transaction shares a batch with nothing, so the dispatcher hands over what came before it first, and then
 * what there is of it. What is to be done about each message, the apply session finds out on the target. Owned by the leader apply worker's thread.
 */
public final class PreparedTransactions {

    /** Takes what is not a batch; whatever is handed over is done in its order. */
    public interface Sink {
        /** The batches that follow are this transaction, up to its end. */
        void beginPrepare(PreparedTransaction transaction);

        /**
         * A parallel apply worker has executed the transaction. Waits until it is known whether the worker shall prepare it.
         *
         * @return false if it was prepared in an earlier life; null if the wait was given up
         */
        @Nullable
        Boolean beginPrepareInWorker(PreparedTransaction transaction, BooleanSupplier givenUp);

        /** That transaction is prepared. */
        void preparedInWorker(PreparedTransaction transaction);

        void commitPrepared(CommitPrepared message);

        void rollbackPrepared(RollbackPrepared message);
    }

    private final boolean enabled;
    private final BatchBuilder batch;
    private final Sink sink;
    private final Lsn startLsn;
    private final SubscriptionStats stats;

    /** The transaction that has begun and not been prepared. */
    private @Nullable BeginPrepare open;

    /**
     * @param enabled whether the stream was asked for with two_phase
     * @param startLsn what finishes at or before this position is finished on the target
     */
    public PreparedTransactions(boolean enabled, BatchBuilder batch, Sink sink, Lsn startLsn, SubscriptionStats stats) {
        this.enabled = enabled;
        this.batch = batch;
        this.sink = sink;
        this.startLsn = startLsn;
        this.stats = stats;
    }

    /** Whether the transaction that has begun ends with PREPARE. */
    boolean isOpen() {
        return open != null;
    }

    /** Forgets the open transaction. */
    void drop() {
        open = null;
    }

    /** The transaction as the changes in it are told of it; its final LSN is the PREPARE's. */
    Begin handleBeginPrepare(BeginPrepare begin) {
        requireEnabled(MessageType.BEGIN_PREPARE);
        sink.beginPrepare(new PreparedTransaction(begin.xid(), begin.endLsn(), begin.prepareTime()));
        batch.begin(begin.xid(), begin.prepareLsn());
        open = begin;
        return new Begin(begin.prepareLsn(), begin.prepareTime(), begin.xid());
    }

    Lsn handlePrepare(Prepare prepare) {
        BeginPrepare begin = open;
        if (begin == null) {
            throw violation("PREPARE message of transaction " + prepare.xid() + ", which has not begun");
        }
        if (!begin.prepareLsn().equals(prepare.prepareLsn()) || !begin.xid().equals(prepare.xid())) {
            // worker.c, apply_handle_prepare
            throw violation("incorrect prepare LSN " + prepare.prepareLsn() + " in prepare message (expected "
                    + begin.prepareLsn() + ")");
        }
        batch.commit(new TransactionSlice.End(prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime()));
        open = null;
        return prepare.endLsn();
    }

    /**
     * STREAM PREPARE of what a worker has. Everything before it is committed, and nothing behind it executed until the worker has
     * prepared it; then the progress is recorded.
     *
     * @param rest what the worker has to read from the spool first, null if it was sent everything
     * @return null if it was given up
     */
    @Nullable
    Lsn prepareInWorker(
            StreamPrepare prepare,
            ParallelApplyWorkers.Worker worker,
            @Nullable SpooledChanges rest,
            BooleanSupplier givenUp) {
        requireEnabled(MessageType.STREAM_PREPARE);
        PreparedTransaction transaction =
                new PreparedTransaction(prepare.xid(), prepare.endLsn(), prepare.prepareTime());
        Boolean execute = sink.beginPrepareInWorker(transaction, givenUp);
        if (execute == null) {
            return null;
        }
        if (!execute) {
            worker.rollback(givenUp);
        } else if (!worker.prepare(prepare, rest, givenUp)) {
            return null;
        }
        sink.preparedInWorker(transaction);
        return prepare.endLsn();
    }

    Lsn handleCommitPrepared(CommitPrepared message) {
        requireEnabled(MessageType.COMMIT_PREPARED);
        if (message.endLsn().isAfter(startLsn)) {
            sink.commitPrepared(message);
        } else {
            stats.skippedTransactions.increment();
        }
        return message.endLsn();
    }

    Lsn handleRollbackPrepared(RollbackPrepared message) {
        requireEnabled(MessageType.ROLLBACK_PREPARED);
        if (message.rollbackEndLsn().isAfter(startLsn)) {
            sink.rollbackPrepared(message);
        } else {
            stats.skippedTransactions.increment();
        }
        return message.rollbackEndLsn();
    }

    /** Checks that the open transaction, if there is one, is not one that ends with PREPARE. */
    void requireNone(MessageType type, Xid xid) {
        if (open != null) {
            throw violation(type.label() + " message in transaction " + xid + ", which began with BEGIN PREPARE");
        }
    }

    void requireEnabled(MessageType type) {
        if (!enabled) {
            throw violation("the publisher sent " + type.label() + " although two_phase was not asked for");
        }
    }

    private static ApplyException violation(String message) {
        return new ApplyException(Kind.PROTOCOL_VIOLATION, message);
    }
}
