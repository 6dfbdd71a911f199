package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.BeginPrepare;
import dev.pgapply.core.pgoutput.Commit;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.PgOutputDecoder;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.core.pgoutput.Prepare;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.pgoutput.StreamAbort;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.pgoutput.StreamStart;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.spool.SpoolReader;
import dev.pgapply.core.spool.SpooledMessage;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the stream's messages one after the other and makes batches of them: one handler a message, in the order of PostgreSQL's
 * {@code apply_dispatch} (worker.c). Owned by the leader apply worker's thread.
 *
 * <p>A streamed transaction goes to the spool while it is in progress; when it commits, what is in the spool takes the same way as an
 * ordinary transaction's messages.
 */
public final class ApplyDispatcher {

    /** A replay may take minutes: so often it looks at the clock. */
    private static final int MESSAGES_PER_TICK = 1024;

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final ChangeCollector changes;
    private final TableHolds holds;
    private final StreamedChanges streamed;
    private final PreparedTransactions prepared;
    private final AppliedPositions positions;
    private final SubscriptionStats stats;
    private final Consumer<ChangeBatch> sealed;
    private final ApplyErrorContext context;

    /** Everything that ends at or before this position is on the target already: its remote_lsn when streaming began. */
    private final Lsn startLsn;

    private @Nullable Begin transaction;

    /** @param sealed takes each batch that is ready to be executed; it may wait */
    public ApplyDispatcher(
            String originName,
            BatchBuilder batch,
            OpenRelations relations,
            TableHolds holds,
            StreamedChanges streamed,
            PreparedTransactions prepared,
            AppliedPositions positions,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed) {
        this.batch = batch;
        this.relations = relations;
        this.holds = holds;
        this.streamed = streamed;
        this.prepared = prepared;
        this.positions = positions;
        this.stats = stats;
        this.sealed = sealed;
        this.context = new ApplyErrorContext(originName);
        this.changes = new ChangeCollector(batch, relations, holds, stats, sealed, context);
        this.startLsn = positions.appliedLsn();
    }

    /** Looks at the clock: once for all messages that were received together. */
    public void tick() {
        relations.tick();
    }

    /** Whether a transaction has begun and not ended. */
    public boolean inTransaction() {
        return transaction != null;
    }

    /** Whether a streamed transaction is being applied by a parallel apply worker. */
    public boolean isInWorker() {
        return streamed.isInWorker();
    }

    /**
     * Dispatches one message.
     *
     * @param buffer has the message, and is kept by what is made of it: nobody writes to it any more
     * @param givenUp asked while a streamed transaction is replayed; true ends that, and with it the dispatcher's life
     * @throws ApplyException with its context; the open transaction is dropped, whole ones before it stay in the batch
     */
    public void dispatch(byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
        try {
            MessageType type = MessageType.of(buffer[offset]);
            context.message(type, null);
            if (type != null && type.carriesXid() && streamed.inBlock()) {
                streamed.append(type, buffer, offset, length, givenUp);
                return;
            }
            if (type == MessageType.STREAM_ABORT) {
                handleStreamAbort(buffer, offset, length, givenUp);
                return;
            }
            PgOutputMessage message = decoder.decode(buffer, offset, length, false);
            holds.message(buffer, offset, length, false);
            Lsn end = handle(message, length, givenUp);
            if (end != null) {
                positions.consumed(end);
                context.clear();
            }
        } catch (ApplyException e) {
            batch.dropOpenTransaction();
            transaction = null;
            prepared.drop();
            throw context.addTo(e);
        }
    }

    /** The end of the transaction that the message ended, else null. */
    private @Nullable Lsn handle(PgOutputMessage message, int wireBytes, BooleanSupplier givenUp) {
        return switch (message.type()) {
            case BEGIN -> handleBegin((Begin) message);
            case COMMIT -> handleCommit((Commit) message);
            case INSERT, UPDATE, DELETE, TRUNCATE, RELATION, TYPE, ORIGIN, MESSAGE -> handleChange(message, wireBytes);
            case STREAM_START -> handleStreamStart((StreamStart) message, givenUp);
            case STREAM_STOP -> handleStreamStop();
            case STREAM_ABORT -> throw new IllegalStateException("a STREAM ABORT message keeps its bytes");
            case STREAM_COMMIT -> handleStreamCommit((StreamCommit) message, givenUp);
            case BEGIN_PREPARE -> handleBeginPrepare((BeginPrepare) message);
            case PREPARE -> handlePrepare((Prepare) message);
            case COMMIT_PREPARED -> handleCommitPrepared((CommitPrepared) message);
            case ROLLBACK_PREPARED -> handleRollbackPrepared((RollbackPrepared) message);
            case STREAM_PREPARE -> handleStreamPrepare((StreamPrepare) message, givenUp);
        };
    }

    private @Nullable Lsn handleBegin(Begin begin) {
        requireNoTransaction(MessageType.BEGIN, begin.xid());
        transaction = begin;
        holds.begin(begin);
        context.transaction(begin.xid(), begin.finalLsn());
        if (isApplied(begin)) {
            return null;
        }
        if (batch.isEmpty()) {
            positions.oldestUnsealed(begin.commitTime());
        }
        batch.begin(begin.xid(), begin.finalLsn());
        return null;
    }

    private void requireNoTransaction(MessageType type, Xid xid) {
        streamed.requireNoBlock(type, xid);
        if (transaction != null) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    type.label() + " message of transaction " + xid + " inside transaction " + transaction.xid());
        }
    }

    /**
     * Whether the target has the transaction already. Only end_lsn may be compared with the progress, since the next transaction's
     * commit LSN may equal it; a commit record that begins before the progress also ends at or before it, for the progress is a
     * record's end. {@link #handleCommit} checks that conclusion. A PREPARE says nothing by its position.
     */
    private boolean isApplied(Begin begin) {
        return !prepared.isOpen() && begin.finalLsn().isBefore(startLsn);
    }

    private Lsn handleCommit(Commit commit) {
        Begin begin = requireTransaction();
        prepared.requireNone(MessageType.COMMIT, begin.xid());
        if (!begin.finalLsn().equals(commit.commitLsn())) {
            // worker.c, apply_handle_commit: "incorrect commit LSN %X/%X in commit message (expected %X/%X)"
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    "incorrect commit LSN " + commit.commitLsn() + " in commit message (expected " + begin.finalLsn()
                            + ")");
        }
        boolean applied = !commit.endLsn().isAfter(startLsn);
        if (applied != isApplied(begin)) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    "transaction ends at " + commit.endLsn() + " across the target's progress " + startLsn);
        }
        if (applied) {
            stats.skippedTransactions.increment();
        } else {
            batch.commit(new TransactionSlice.End(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
        }
        transaction = null;
        return commit.endLsn();
    }

    private Begin requireTransaction() {
        Begin begin = transaction;
        if (begin == null) {
            throw new ApplyException(Kind.PROTOCOL_VIOLATION, "no transaction has begun");
        }
        return begin;
    }

    /** What may come inside a transaction; a relation also comes before one. */
    private @Nullable Lsn handleChange(PgOutputMessage message, int wireBytes) {
        if (message instanceof Relation relation) {
            changes.handleRelation(relation);
            return null;
        }
        // worker.c, apply_handle_type: nothing to do, the target's own types apply; apply_handle_origin: informative.
        // A logical message comes only if it was asked for, and means nothing to a target.
        if (message.type() == MessageType.TYPE
                || message.type() == MessageType.ORIGIN
                || message.type() == MessageType.MESSAGE) {
            return null;
        }
        Begin begin = requireTransaction();
        if (isApplied(begin)) {
            return null;
        }
        if (message instanceof Insert insert) {
            changes.handleInsert(insert, begin.finalLsn(), wireBytes);
        } else if (message instanceof Update update) {
            changes.handleUpdate(update, begin.finalLsn(), wireBytes);
        } else if (message instanceof Delete delete) {
            changes.handleDelete(delete, begin.finalLsn(), wireBytes);
        } else if (message instanceof Truncate truncate) {
            changes.handleTruncate(truncate, begin.finalLsn(), wireBytes);
        }
        return null;
    }

    private @Nullable Lsn handleStreamStart(StreamStart start, BooleanSupplier givenUp) {
        Begin begin = transaction;
        context.transaction(start.xid(), null);
        if (streamed.handleStreamStart(start, begin == null ? null : begin.xid())) {
            // What is in the block may depend on every transaction that came before it.
            boolean unused = commitWhole(givenUp);
        }
        return null;
    }

    /** Commits what was collected; false if that was given up. */
    private boolean commitWhole(BooleanSupplier givenUp) {
        sealWhole();
        return streamed.workers().awaitCommitted(givenUp);
    }

    private @Nullable Lsn handleStreamStop() {
        streamed.handleStreamStop();
        context.clear();
        return null;
    }

    /** Beside the others, because the message itself may have to be kept. */
    private void handleStreamAbort(byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
        StreamAbort abort = (StreamAbort) decoder.decode(buffer, offset, length, false);
        context.transaction(abort.xid(), abort.abortLsn());
        streamed.handleStreamAbort(abort, buffer, offset, length, givenUp);
        context.clear();
    }

    /** worker.c, apply_handle_stream_commit: replays the transaction as an ordinary one; null if that was given up. */
    private @Nullable Lsn handleStreamCommit(StreamCommit commit, BooleanSupplier givenUp) {
        context.transaction(commit.xid(), commit.commitLsn());
        SpooledTransaction spooled = streamed.handleStreamCommit(commit);
        ParallelApplyWorkers.Worker worker = spooled.worker();
        if (worker != null) {
            return commitInWorker(spooled, worker, commit, givenUp);
        }
        Begin begin = new Begin(commit.commitLsn(), commit.commitTime(), commit.xid());
        Lsn unused = handleBegin(begin);
        if (!isApplied(begin) && !replay(spooled, givenUp)) {
            return null;
        }
        context.message(MessageType.STREAM_COMMIT, null);
        Lsn end = handleCommit(new Commit(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
        boolean replaced = spooled.overlay().merge();
        if (replaced || spooled.overlay().differed()) {
            // What comes next is meant for the relations in force.
            batch.sealAll().forEach(sealed);
        }
        streamed.finish(spooled);
        return end;
    }

    /**
     * Everything before it is committed, and nothing behind it executed by anyone, until the worker's commit has returned; null if that
     * was given up.
     */
    private @Nullable Lsn commitInWorker(
            SpooledTransaction ended,
            ParallelApplyWorkers.Worker worker,
            StreamCommit commit,
            BooleanSupplier givenUp) {
        if (!commit.endLsn().isAfter(startLsn)) {
            worker.rollback(givenUp);
            stats.skippedTransactions.increment();
        } else if (!commitWhole(givenUp) || !worker.commit(commit, ended.rest(), givenUp)) {
            return null;
        }
        boolean unused = ended.overlay().merge();
        streamed.finish(ended);
        return commit.endLsn();
    }

    /** Throws what ended a parallel apply worker, if something has. */
    public void throwWorkerFailure() {
        streamed.workers().throwFailure();
    }

    private @Nullable Lsn handleBeginPrepare(BeginPrepare begin) {
        requireNoTransaction(MessageType.BEGIN_PREPARE, begin.xid());
        context.transaction(begin.xid(), begin.prepareLsn());
        sealWhole();
        Begin prepares = prepared.handleBeginPrepare(begin);
        transaction = prepares;
        holds.begin(prepares);
        return null;
    }

    private Lsn handlePrepare(Prepare prepare) {
        streamed.requireNoBlock(MessageType.PREPARE, prepare.xid());
        Lsn end = prepared.handlePrepare(prepare);
        transaction = null;
        sealWhole();
        return end;
    }

    private Lsn handleCommitPrepared(CommitPrepared message) {
        requireNoTransaction(MessageType.COMMIT_PREPARED, message.xid());
        context.transaction(message.xid(), message.commitLsn());
        sealWhole();
        return prepared.handleCommitPrepared(message);
    }

    private Lsn handleRollbackPrepared(RollbackPrepared message) {
        requireNoTransaction(MessageType.ROLLBACK_PREPARED, message.xid());
        context.transaction(message.xid(), message.rollbackEndLsn());
        sealWhole();
        return prepared.handleRollbackPrepared(message);
    }

    /** worker.c, apply_handle_stream_prepare: replays the transaction as one that is prepared; null if that was given up. */
    private @Nullable Lsn handleStreamPrepare(StreamPrepare prepare, BooleanSupplier givenUp) {
        context.transaction(prepare.xid(), prepare.prepareLsn());
        SpooledTransaction spooled = streamed.handleStreamPrepare(prepare);
        ParallelApplyWorkers.Worker worker = spooled.worker();
        if (worker != null) {
            return prepareInWorker(spooled, worker, prepare, givenUp);
        }
        Lsn unused = handleBeginPrepare(new BeginPrepare(
                prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime(), prepare.xid(), prepare.gid()));
        if (!replay(spooled, givenUp)) {
            return null;
        }
        context.message(MessageType.STREAM_PREPARE, null);
        Lsn end = handlePrepare(new Prepare(
                prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime(), prepare.xid(), prepare.gid()));
        // pgoutput.c, pgoutput_stream_prepare_txn: its relations are not counted as sent, so nobody else is meant to
        // have them.
        streamed.finish(spooled);
        return end;
    }

    /** A PREPARE is not judged by its position, but by what the target has of it. */
    private @Nullable Lsn prepareInWorker(
            SpooledTransaction ended,
            ParallelApplyWorkers.Worker worker,
            StreamPrepare prepare,
            BooleanSupplier givenUp) {
        if (!commitWhole(givenUp)) {
            return null;
        }
        Lsn end = prepared.prepareInWorker(prepare, worker, ended.rest(), givenUp);
        if (end != null) {
            streamed.finish(ended);
        }
        return end;
    }

    /** worker.c, apply_spooled_messages; false if it was given up. */
    private boolean replay(SpooledTransaction spooled, BooleanSupplier givenUp) {
        relations.beginReplay(spooled.overlay());
        try (SpoolReader reader = SpoolReader.open(spooled.writer().contents())) {
            int count = 0;
            for (SpooledMessage next = reader.next(); next != null; next = reader.next()) {
                if (count++ % MESSAGES_PER_TICK == 0) {
                    relations.tick();
                    if (givenUp.getAsBoolean()) {
                        return false;
                    }
                }
                PgOutputMessage message = decoder.decode(next.buffer(), next.offset(), next.length(), true);
                holds.message(next.buffer(), next.offset(), next.length(), true);
                context.message(message.type(), null);
                requireChange(message);
                Lsn unused = handleChange(message, next.length());
            }
            return true;
        } finally {
            relations.endReplay();
        }
    }

    /** The spool of a transaction that has no worker holds nothing that frames or ends it. */
    private static void requireChange(PgOutputMessage message) {
        if (!message.type().carriesXid()) {
            throw new ApplyException(
                    Kind.SPOOL_FAILED, "a " + message.type().label() + " message is in the spool of a transaction");
        }
    }

    /** Hands over the whole transactions collected so far; an unfinished one stays. */
    public void sealWhole() {
        if (batch.hasWholeTransactions()) {
            batch.sealWhole().forEach(sealed);
        }
        Begin begin = transaction;
        positions.oldestUnsealed(begin == null ? null : begin.commitTime());
    }

    /** Whether whole transactions wait to be handed over. */
    public boolean hasWholeTransactions() {
        return batch.hasWholeTransactions();
    }
}
