package dev.pgapply.worker.apply;

import dev.pgapply.core.Xid;
import dev.pgapply.core.relation.RelationOverlay;
import dev.pgapply.core.spool.SpoolWriter;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.transaction.StreamedTransaction;
import org.jspecify.annotations.Nullable;

/**
 * A streamed transaction with its relations, and with what takes its messages: its spool, its parallel apply worker, or the worker
 * first and the spool then. Owned by the leader apply worker's thread.
 */
final class SpooledTransaction {

    private final StreamedTransaction streamed;
    private final RelationOverlay overlay;
    private final ParallelApplyWorkers.@Nullable Worker worker;
    private @Nullable SpoolWriter writer;

    private SpooledTransaction(
            StreamedTransaction streamed,
            RelationOverlay overlay,
            ParallelApplyWorkers.@Nullable Worker worker,
            @Nullable SpoolWriter writer) {
        this.streamed = streamed;
        this.overlay = overlay;
        this.worker = worker;
        this.writer = writer;
    }

    static SpooledTransaction inSpool(StreamedTransaction streamed, RelationOverlay overlay, SpoolWriter writer) {
        return new SpooledTransaction(streamed, overlay, null, writer);
    }

    static SpooledTransaction inWorker(
            StreamedTransaction streamed, RelationOverlay overlay, ParallelApplyWorkers.Worker worker) {
        return new SpooledTransaction(streamed, overlay, worker, null);
    }

    /** The toplevel transaction's. */
    Xid xid() {
        return streamed.xid();
    }

    StreamedTransaction streamed() {
        return streamed;
    }

    /** The relations that it was told of. */
    RelationOverlay overlay() {
        return overlay;
    }

    /** Null where the leader replays it. */
    ParallelApplyWorkers.@Nullable Worker worker() {
        return worker;
    }

    boolean hasSpool() {
        return writer != null;
    }

    /** From now on the spool takes what comes. */
    void spool(SpoolWriter rest) {
        writer = rest;
    }

    SpoolWriter writer() {
        SpoolWriter spool = writer;
        if (spool == null) {
            throw new IllegalStateException("transaction " + xid() + " has no spool");
        }
        return spool;
    }

    /** What the worker has to read from the spool, null if it was sent everything. */
    @Nullable
    SpooledChanges rest() {
        return writer == null ? null : writer().contents();
    }

    int subxactCount() {
        return worker == null ? writer().subxactCount() : worker.subxactCount();
    }

    long spooledBytes() {
        return writer == null ? 0 : writer().byteCount();
    }
}
