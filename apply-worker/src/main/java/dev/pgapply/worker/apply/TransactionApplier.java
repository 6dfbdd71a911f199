package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Step;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.CommittedPlan;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes sealed batches on a target session: the net effect where the batch has a plan, the transactions' own steps in order where it
 * has none, and the exact path, step by step, wherever one of these fails on data or leaves an outcome open. Owned by the apply session's thread.
 *
 * <p>Which transaction holds what:
 *
 * <ul>
 *   <li>Whole transactions share one target transaction on the fast path. If it fails on data, it is rolled back and each of them is
 *       replayed exactly with a commit of its own, so that the error lands on the exact transaction, relation and row, and those
 *       before it are kept.
 *   <li>A transaction larger than a batch is one target transaction of its own; each of its batches stands behind a savepoint, and
 *       only the failing one is replayed from there.
 * </ul>
 */
final class TransactionApplier {

    /** What is told of each target commit. */
    interface CommitListener {
        void committed(Lsn remoteEndLsn, Instant commitTime, LocalCommit local);
    }

    private static final Logger log = LoggerFactory.getLogger(TransactionApplier.class);

    /** One name for all: it is defined anew for each batch, and only the newest is ever rolled back to. */
    private static final String SAVEPOINT = "pgapply_batch";

    private final TargetSession session;
    private final SubscriptionStats stats;
    private final ApplyErrorContext context;
    private final CommitListener listener;
    private final Tally tally = new Tally();

    /** What the slice belongs to that is being executed, if it ends with PREPARE. */
    private @Nullable PreparedTransaction preparing;

    TransactionApplier(
            TargetSession session, SubscriptionStats stats, ApplyErrorContext context, CommitListener listener) {
        this.session = session;
        this.stats = stats;
        this.context = context;
        this.listener = listener;
    }

    /**
     * Applies a batch. When this returns, its whole transactions are committed; an unfinished one is executed and open.
     *
     * @throws ApplyException with its context; the target transaction is rolled back, or the connection is lost
     */
    void apply(ChangeBatch batch) {
        stats.batches.increment();
        if (batch.firstSlice().isWhole()) {
            applyTransactions(batch);
        } else {
            applySlice(batch.firstSlice(), batch.plan());
        }
    }

    /** What the open target transaction has done so far. */
    long[] mark() {
        return tally.values();
    }

    /** The open target transaction was undone to where that was its mark. */
    void backTo(long[] mark) {
        tally.set(mark);
    }

    private void applyTransactions(ChangeBatch batch) {
        List<TransactionSlice> transactions = batch.transactions();
        SetPlan plan = batch.plan();
        if (plan == null) {
            // Nobody must see two of them as one: a trigger may watch.
            for (TransactionSlice transaction : transactions) {
                if (!applyPlan(SetPlan.inOrder(transaction), List.of(transaction))) {
                    replayExactly(transaction);
                }
            }
        } else if (!applyPlan(plan, transactions)) {
            transactions.forEach(this::replayExactly);
        }
        context.clear();
    }

    /** Applies transactions by one target transaction; false if it was undone, and they have to be replayed exactly. */
    private boolean applyPlan(SetPlan plan, List<TransactionSlice> transactions) {
        context.clear();
        try {
            TransactionSlice.End end = end(transactions.get(transactions.size() - 1));
            session.begin();
            CommittedPlan applied = session.executeAndCommit(plan, progress(end));
            LocalCommit local = applied.local();
            if (local != null) {
                transactions.forEach(tally::count);
                tally.missing(applied.outcome());
                committed(end, local);
                stats.transactions.add(transactions.size());
                return true;
            }
        } catch (ApplyException e) {
            if (!isOfData(e)) {
                throw e;
            }
            log.debug("{} transactions are replayed exactly: {}", transactions.size(), e.getMessage());
        }
        tally.clear();
        session.rollback();
        stats.exactFallbacks.increment();
        return false;
    }

    private void replayExactly(TransactionSlice transaction) {
        try {
            session.begin();
            executeSteps(transaction);
            context.message(MessageType.COMMIT, null);
            commit(end(transaction));
        } catch (ApplyException e) {
            tally.clear();
            if (isOfData(e)) {
                session.rollback();
            }
            throw context.addTo(e);
        }
        stats.transactions.increment();
    }

    /** Executes a part of a transaction that is to be prepared; when this returns with the last one, it is. */
    void applyPrepared(TransactionSlice slice, @Nullable SetPlan plan, PreparedTransaction transaction) {
        stats.batches.increment();
        preparing = transaction;
        applySlice(slice, plan);
        preparing = null;
    }

    private void applySlice(TransactionSlice slice, @Nullable SetPlan plan) {
        try {
            if (slice.first()) {
                session.begin();
            }
            session.savepoint(SAVEPOINT);
            if (!executePlan(plan == null ? SetPlan.inOrder(slice) : plan, slice)) {
                executeSteps(slice);
            }
            if (slice.end() != null) {
                context.transaction(slice.xid(), slice.finalLsn());
                finish(slice);
            }
        } catch (ApplyException e) {
            tally.clear();
            if (isOfData(e)) {
                session.rollback();
            }
            throw context.addTo(e);
        }
        context.clear();
    }

    private void finish(TransactionSlice slice) {
        PreparedTransaction transaction = preparing;
        if (transaction == null) {
            context.message(MessageType.COMMIT, null);
            commit(end(slice));
            stats.transactions.increment();
        } else {
            context.message(MessageType.PREPARE, null);
            session.twoPhase().prepare(transaction);
            tally.publish();
        }
    }

    /** False if the plan was undone, back to the savepoint, and the slice has to be replayed exactly. */
    private boolean executePlan(SetPlan plan, TransactionSlice slice) {
        try {
            SetOutcome outcome = session.execute(plan);
            if (!outcome.needsExactReplay()) {
                tally.count(slice);
                tally.missing(outcome);
                return true;
            }
        } catch (ApplyException e) {
            if (!isOfData(e)) {
                throw e;
            }
            log.debug("a batch of transaction {} is replayed exactly: {}", slice.xid(), e.getMessage());
        }
        session.rollbackTo(SAVEPOINT);
        stats.exactFallbacks.increment();
        return false;
    }

    private void executeSteps(TransactionSlice slice) {
        context.transaction(slice.xid(), slice.finalLsn());
        for (Step step : slice.steps()) {
            if (step instanceof Change change) {
                QualifiedName relation = change.relation().target().name();
                context.message(messageType(change), relation);
                ChangeOutcome outcome = session.execute(change);
                tally.outcome(change, outcome);
            } else if (step instanceof Truncation truncation) {
                context.message(
                        MessageType.TRUNCATE,
                        truncation.relations().get(0).target().name());
                session.truncate(truncation);
            }
        }
        tally.count(slice);
    }

    private static TransactionSlice.End end(TransactionSlice last) {
        TransactionSlice.End end = last.end();
        if (end == null) {
            throw new IllegalStateException("transaction " + last.xid() + " has not ended");
        }
        return end;
    }

    private static Progress progress(TransactionSlice.End end) {
        return new Progress(end.endLsn(), end.commitTime());
    }

    private void commit(TransactionSlice.End end) {
        committed(end, session.commit(progress(end)));
    }

    private void committed(TransactionSlice.End end, LocalCommit local) {
        tally.publish();
        listener.committed(end.endLsn(), end.commitTime(), local);
    }

    private static MessageType messageType(Change change) {
        return switch (change.kind()) {
            case INSERT -> MessageType.INSERT;
            case UPDATE -> MessageType.UPDATE;
            case DELETE -> MessageType.DELETE;
        };
    }

    /** Whether the error came of what was to be applied: only then does replaying row by row say more. */
    private static boolean isOfData(ApplyException e) {
        return e.kind() == Kind.DATA
                || e.kind() == Kind.CONFLICT
                || e.kind() == Kind.SCHEMA_MISMATCH
                || e.kind() == Kind.PERMISSION;
    }

    /** Counts what the open target transaction did; published only once it is committed, so that no counter speaks of undone work. */
    private final class Tally {
        private long inserts;
        private long updates;
        private long deletes;
        private long truncates;
        private long updateMissing;
        private long deleteMissing;
        private @Nullable String missingRelation;

        void count(TransactionSlice slice) {
            for (Step step : slice.steps()) {
                if (step instanceof Change change) {
                    switch (change.kind()) {
                        case INSERT -> inserts++;
                        case UPDATE -> updates++;
                        case DELETE -> deletes++;
                    }
                } else {
                    truncates++;
                }
            }
        }

        void missing(SetOutcome outcome) {
            for (SetOutcome.MissingRow row : outcome.missing()) {
                missing(row.type(), row.relation().target().name().toString());
            }
        }

        void outcome(Change change, ChangeOutcome outcome) {
            switch (outcome) {
                case APPLIED -> {}
                case UPDATE_MISSING ->
                    missing(
                            ConflictType.UPDATE_MISSING,
                            change.relation().target().name().toString());
                case DELETE_MISSING ->
                    missing(
                            ConflictType.DELETE_MISSING,
                            change.relation().target().name().toString());
            }
        }

        private void missing(ConflictType type, String relation) {
            missingRelation = relation;
            if (type == ConflictType.UPDATE_MISSING) {
                updateMissing++;
            } else {
                deleteMissing++;
            }
        }

        void publish() {
            stats.inserts.add(inserts);
            stats.updates.add(updates);
            stats.deletes.add(deletes);
            stats.truncates.add(truncates);
            stats.batchRows.add(inserts + updates + deletes);
            stats.conflicts(ConflictType.UPDATE_MISSING).add(updateMissing);
            stats.conflicts(ConflictType.DELETE_MISSING).add(deleteMissing);
            warn(ConflictType.UPDATE_MISSING, updateMissing);
            warn(ConflictType.DELETE_MISSING, deleteMissing);
            clear();
        }

        private void warn(ConflictType type, long count) {
            if (count > 0) {
                log.warn(
                        "conflict detected on relation \"{}\": conflict={}, {} in this commit; the {} skipped, as PostgreSQL does",
                        missingRelation,
                        type.label(),
                        count,
                        count == 1 ? "change was" : "changes were");
            }
        }

        long[] values() {
            return new long[] {inserts, updates, deletes, truncates, updateMissing, deleteMissing};
        }

        void set(long[] values) {
            inserts = values[0];
            updates = values[1];
            deletes = values[2];
            truncates = values[3];
            updateMissing = values[4];
            deleteMissing = values[5];
        }

        void clear() {
            inserts = 0;
            updates = 0;
            deletes = 0;
            truncates = 0;
            updateMissing = 0;
            deleteMissing = 0;
            missingRelation = null;
        }
    }
}
