package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.PgOutputDecoder;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.StreamAbort;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.pgoutput.StreamStart;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.transaction.StreamedTransaction;
import dev.pgapply.core.transaction.StreamedTransactions;
import dev.pgapply.core.transaction.TransApplyAction;
import dev.pgapply.core.transaction.TransApplyAction.Assignment;
import dev.pgapply.core.transaction.TransApplyAction.Situation;
import dev.pgapply.core.transaction.TransApplyAction.WorkerChoice;
import dev.pgapply.worker.stats.StreamProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes the streamed transactions in while they are in progress: their messages go to the spool, unread but for relations, until the
 * transaction commits and is replayed (worker.c, apply_handle_stream_start, _stop, _abort; handle_streamed_transaction). Owned by the
 * leader apply worker's thread.
 */
public final class StreamedChanges {

    private static final int XID_BYTES = 4;

    private final StreamingMode streaming;
    private final SpoolDirectory spool;
    private final OpenRelations relations;
    private final SubscriptionStats stats;

    private final StreamedTransactions transactions = new StreamedTransactions();
    private final Map<Xid, SpooledTransaction> spooled = new HashMap<>();
    private final PgOutputDecoder decoder = new PgOutputDecoder();

    /** The transaction whose block is open. */
    private @Nullable SpooledTransaction block;

    /** Subxids come in runs: the value is made once a run. */
    private Xid lastSubxid = new Xid(0);

    /** @param spool this life's own, empty */
    public StreamedChanges(
            StreamingMode streaming, SpoolDirectory spool, OpenRelations relations, SubscriptionStats stats) {
        this.streaming = streaming;
        this.spool = spool;
        this.relations = relations;
        this.stats = stats;
        stats.clearStreams();
    }

    /** Whether a stream block is open, in which a change carries its xid. */
    boolean inBlock() {
        return block != null;
    }

    /** Checks that no block is open where an ordinary transaction's message comes. */
    void requireNoBlock(MessageType type, Xid xid) {
        transactions.requireNoBlock(type.label(), xid);
    }

    /** @param ordinary the ordinary transaction that has begun and not ended, or null */
    void handleStreamStart(StreamStart start, @Nullable Xid ordinary) {
        if (streaming == StreamingMode.OFF) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION, "the publisher sent STREAM START although streaming was not asked for");
        }
        StreamedTransaction transaction =
                transactions.start(start.xid(), start.firstSegment(), ordinary, this::firstAction);
        SpooledTransaction opened = spooled.get(start.xid());
        if (opened == null) {
            opened = new SpooledTransaction(transaction, spool.create(start.xid()), relations.overlay());
            spooled.put(start.xid(), opened);
        }
        opened.writer().openBlock();
        block = opened;
    }

    /** There are no parallel apply workers yet. */
    private TransApplyAction firstAction() {
        WorkerChoice nobody = new WorkerChoice(streaming, true, false, false, false, false);
        TransApplyAction action = TransApplyAction.decide(new Situation(false, true, Assignment.NONE, nobody));
        stats.streamActions(action).increment();
        return action;
    }

    /**
     * A change in the open block, as received.
     *
     * @param type one that carries an xid
     */
    void append(MessageType type, byte[] buffer, int offset, int length) {
        Xid subxid = subxid(type, buffer, offset, length);
        transactions.change(type.label(), subxid);
        SpooledTransaction open = requireBlock();
        if (type == MessageType.RELATION) {
            open.overlay().announce((Relation) decoder.decode(buffer, offset, length, true));
        }
        open.writer().append(subxid, buffer, offset, length);
    }

    private Xid subxid(MessageType type, byte[] buffer, int offset, int length) {
        if (length <= XID_BYTES) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    "insufficient data left in " + type.label() + " message: no transaction ID in a stream block");
        }
        int value = (buffer[offset + 1] & 0xFF) << 24
                | (buffer[offset + 2] & 0xFF) << 16
                | (buffer[offset + 3] & 0xFF) << 8
                | (buffer[offset + 4] & 0xFF);
        if (lastSubxid.value() != value) {
            lastSubxid = new Xid(value);
        }
        return lastSubxid;
    }

    private SpooledTransaction requireBlock() {
        SpooledTransaction open = block;
        if (open == null) {
            throw new IllegalStateException("no stream block is open");
        }
        return open;
    }

    void handleStreamStop() {
        StreamedTransaction unused = transactions.stop();
        SpooledTransaction open = requireBlock();
        open.writer().closeBlock();
        block = null;
        show(open);
    }

    /** worker.c, apply_handle_stream_abort: a subtransaction's changes are cut off, a transaction's files are deleted. */
    void handleStreamAbort(StreamAbort abort) {
        if (transactions.abort(abort.xid(), abort.subxid()) == null) {
            return;
        }
        SpooledTransaction known = spooled.get(abort.xid());
        if (known == null) {
            throw new IllegalStateException("transaction " + abort.xid() + " has no spool");
        }
        if (abort.xid().equals(abort.subxid())) {
            finish(known);
            return;
        }
        known.overlay().forget();
        if (known.writer().abortSubtransaction(abort.subxid())) {
            show(known);
        }
    }

    /** The transaction has ended; the caller replays it, and calls {@link #finish}. */
    SpooledTransaction handleStreamCommit(StreamCommit commit) {
        return end(MessageType.STREAM_COMMIT, commit.xid());
    }

    /** The transaction is prepared; the caller replays it, and calls {@link #finish}. */
    SpooledTransaction handleStreamPrepare(StreamPrepare prepare) {
        return end(MessageType.STREAM_PREPARE, prepare.xid());
    }

    private SpooledTransaction end(MessageType type, Xid xid) {
        StreamedTransaction unused = transactions.end(type.label(), xid);
        SpooledTransaction ended = spooled.get(xid);
        if (ended == null) {
            throw new IllegalStateException("transaction " + xid + " has no spool");
        }
        return ended;
    }

    /** Nothing of the transaction is needed any more. */
    void finish(SpooledTransaction ended) {
        spooled.remove(ended.xid());
        stats.removeStream(ended.xid());
        ended.writer().delete();
    }

    private void show(SpooledTransaction transaction) {
        stats.setStream(new StreamProgress(
                transaction.xid(),
                transaction.streamed().action(),
                transaction.writer().byteCount(),
                transaction.streamed().segments(),
                transaction.writer().subxactCount()));
    }
}
