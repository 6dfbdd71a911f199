package dev.pgapply.worker.parallel;

import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpooledChanges;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** What a parallel apply worker is told, in the order it is told. */
sealed interface ParallelApplyItem {

    /** What an item costs beside its message: the record, the array's header and its place in the queue. */
    int OVERHEAD = 96;

    /** What it takes of the queue's bound. */
    default long weight() {
        return OVERHEAD;
    }

    /** A transaction begins. */
    record Begin(Xid xid) implements ParallelApplyItem {}

    /** A message of it; nobody writes to the buffer any more. */
    record Message(byte[] buffer, int offset, int length) implements ParallelApplyItem {

        @Override
        public long weight() {
            return OVERHEAD + (long) length;
        }
    }

    /** STREAM ABORT of a subtransaction. */
    record SubtransactionAbort(Xid subxid) implements ParallelApplyItem {}

    /**
     * STREAM COMMIT.
     *
     * @param rest what stands in the spool, null if nothing does
     */
    record Commit(StreamCommit commit, @Nullable SpooledChanges rest, CountDownLatch done)
            implements ParallelApplyItem {}

    /** STREAM PREPARE. */
    record Prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, CountDownLatch done)
            implements ParallelApplyItem {}

    /** STREAM ABORT of the transaction. */
    record Rollback(CountDownLatch done) implements ParallelApplyItem {}
}
