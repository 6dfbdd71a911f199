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
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the streamed transactions in while they are in progress: their messages go, unread but for relations, to a parallel apply worker
 * or to the spool (worker.c, apply_handle_stream_start, _stop, _abort; handle_streamed_transaction). Owned by the leader apply worker's
 * thread.
 */
public final class StreamedChanges {

    private static final Logger log = LoggerFactory.getLogger(StreamedChanges.class);

    private static final int XID_BYTES = 4;

    private final StreamingMode streaming;
    private final SpoolDirectory spool;
    private final ParallelApplyWorkers workers;
    private final TableHolds holds;
    private final OpenRelations relations;
    private final AppliedPositions positions;
    private final SubscriptionStats stats;

    private final StreamedTransactions transactions = new StreamedTransactions();
    private final Map<Xid, SpooledTransaction> inProgress = new HashMap<>();
    private final PgOutputDecoder decoder = new PgOutputDecoder();

    /** The transaction whose block is open. */
    private @Nullable SpooledTransaction block;

    /** Subxids come in runs: the value is made once a run. */
    private Xid lastSubxid = new Xid(0);

    /** @param spool this life's own, empty */
    public StreamedChanges(
            StreamingMode streaming,
            SpoolDirectory spool,
            ParallelApplyWorkers workers,
            TableHolds holds,
            OpenRelations relations,
            AppliedPositions positions,
            SubscriptionStats stats) {
        this.streaming = streaming;
        this.spool = spool;
        this.workers = workers;
        this.holds = holds;
        this.relations = relations;
        this.positions = positions;
        this.stats = stats;
        stats.clearStreams();
    }

    /** Whether a stream block is open, in which a change carries its xid. */
    boolean inBlock() {
        return block != null;
    }

    /** Whether a transaction is in a parallel apply worker. */
    boolean isInWorker() {
        return inProgress.values().stream().anyMatch(transaction -> transaction.worker() != null);
    }

    ParallelApplyWorkers workers() {
        return workers;
    }

    /** Checks that no block is open where an ordinary transaction's message comes. */
    void requireNoBlock(MessageType type, Xid xid) {
        transactions.requireNoBlock(type.label(), xid);
    }

    /**
     * @param ordinary the ordinary transaction that has begun and not ended, or null
     * @return whether the block goes to a worker: then everything before it has to be committed first
     */
    boolean handleStreamStart(StreamStart start, @Nullable Xid ordinary) {
        if (streaming == StreamingMode.OFF) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION, "the publisher sent STREAM START although streaming was not asked for");
        }
        ParallelApplyWorkers.Worker worker =
                start.firstSegment() && !transactions.isKnown(start.xid()) ? workerFor(start.xid()) : null;
        StreamedTransaction transaction =
                transactions.start(start.xid(), start.firstSegment(), ordinary, () -> firstAction(start.xid(), worker));
        SpooledTransaction opened = inProgress.get(start.xid());
        if (opened == null) {
            opened = worker == null
                    ? SpooledTransaction.inSpool(transaction, relations.overlay(), spool.create(start.xid()))
                    : SpooledTransaction.inWorker(transaction, relations.overlay(), worker);
            inProgress.put(start.xid(), opened);
        }
        if (opened.hasSpool()) {
            opened.writer().openBlock();
        }
        block = opened;
        return transaction.action() == TransApplyAction.LEADER_SEND_TO_PARALLEL;
    }

    /** Assigned before the decision, which depends on whether one is free. */
    private ParallelApplyWorkers.@Nullable Worker workerFor(Xid xid) {
        boolean wanted = streaming == StreamingMode.PARALLEL && allTablesReady() && !workers.mustSpool(xid);
        return wanted ? workers.assign(xid) : null;
    }

    /** What is in progress will commit behind everything that was consumed. */
    private boolean allTablesReady() {
        return holds.allTake(positions.consumedLsn());
    }

    private TransApplyAction firstAction(Xid xid, ParallelApplyWorkers.@Nullable Worker worker) {
        WorkerChoice choice =
                new WorkerChoice(streaming, true, worker != null, allTablesReady(), false, workers.mustSpool(xid));
        TransApplyAction action = TransApplyAction.decide(new Situation(false, true, Assignment.NONE, choice));
        stats.streamActions(action).increment();
        return action;
    }

    /**
     * A change in the open block, as received.
     *
     * @param type one that carries an xid
     * @param buffer is kept where a worker gets the message
     * @param givenUp asked while a worker's queue is full; true ends that, and with it this object's life
     */
    void append(MessageType type, byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
        Xid subxid = subxid(type, buffer, offset, length);
        transactions.change(type.label(), subxid);
        SpooledTransaction open = requireBlock();
        if (type == MessageType.RELATION) {
            open.overlay().announce((Relation) decoder.decode(buffer, offset, length, true));
        }
        ParallelApplyWorkers.Worker worker = open.worker();
        if (worker == null) {
            open.writer().append(subxid, buffer, offset, length);
            return;
        }
        if (!open.hasSpool()) {
            if (worker.send(buffer, offset, length, givenUp)) {
                return;
            }
            sendTimedOut(open);
            open.writer().openBlock();
        }
        open.writer().append(buffer, offset, length);
    }

    /** pa_switch_to_partial_serialize. */
    private void sendTimedOut(SpooledTransaction transaction) {
        transaction.streamed().sendTimedOut();
        transaction.spool(spool.create(transaction.xid()));
        stats.streamActions(transaction.streamed().action()).increment();
        log.info(
                "logical replication apply worker will serialize the remaining changes of remote transaction {} to a file",
                transaction.xid());
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
        if (open.hasSpool()) {
            open.writer().closeBlock();
        }
        block = null;
        show(open);
    }

    /**
     * worker.c, apply_handle_stream_abort: a subtransaction's changes are cut off the spool or undone by the worker; a transaction's files
     * are deleted, and what its worker has done is undone.
     *
     * @param buffer has the message, which is kept in the spool where the worker reads the rest from there
     */
    void handleStreamAbort(StreamAbort abort, byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
        if (transactions.abort(abort.xid(), abort.subxid()) == null) {
            return;
        }
        SpooledTransaction known = known(abort.xid());
        ParallelApplyWorkers.Worker worker = known.worker();
        if (abort.xid().equals(abort.subxid())) {
            if (worker != null) {
                worker.rollback(givenUp);
            }
            finish(known);
            return;
        }
        known.overlay().forget();
        if (worker == null) {
            boolean unused = known.writer().abortSubtransaction(abort.subxid());
        } else {
            abortInWorker(known, worker, abort, buffer, offset, length, givenUp);
        }
        show(known);
    }

    private void abortInWorker(
            SpooledTransaction known,
            ParallelApplyWorkers.Worker worker,
            StreamAbort abort,
            byte[] buffer,
            int offset,
            int length,
            BooleanSupplier givenUp) {
        if (!known.hasSpool()) {
            if (worker.sendAbort(abort.subxid(), givenUp)) {
                return;
            }
            sendTimedOut(known);
        }
        known.writer().openBlock();
        known.writer().append(buffer, offset, length);
        known.writer().closeBlock();
    }

    private SpooledTransaction known(Xid xid) {
        SpooledTransaction known = inProgress.get(xid);
        if (known == null) {
            throw new IllegalStateException("transaction " + xid + " has neither spool nor worker");
        }
        return known;
    }

    /** The transaction has ended; the caller replays it or has its worker end it, and calls {@link #finish}. */
    SpooledTransaction handleStreamCommit(StreamCommit commit) {
        return end(MessageType.STREAM_COMMIT, commit.xid());
    }

    /** The transaction is prepared; the caller replays it, and calls {@link #finish}. */
    SpooledTransaction handleStreamPrepare(StreamPrepare prepare) {
        return end(MessageType.STREAM_PREPARE, prepare.xid());
    }

    private SpooledTransaction end(MessageType type, Xid xid) {
        StreamedTransaction unused = transactions.end(type.label(), xid);
        return known(xid);
    }

    /** Nothing of the transaction is needed any more. */
    void finish(SpooledTransaction ended) {
        inProgress.remove(ended.xid());
        stats.removeStream(ended.xid());
        if (ended.hasSpool()) {
            ended.writer().delete();
        }
    }

    private void show(SpooledTransaction transaction) {
        ParallelApplyWorkers.Worker worker = transaction.worker();
        stats.setStream(new StreamProgress(
                transaction.xid(),
                transaction.streamed().action(),
                worker == null ? null : worker.number(),
                transaction.spooledBytes(),
                transaction.streamed().segments(),
                transaction.subxactCount()));
    }
}
