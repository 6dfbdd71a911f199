package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.Commit;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.OldTuple;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the stream's messages one after the other and makes batches of them: one handler a message, in the order of PostgreSQL's
 * {@code apply_dispatch} (worker.c). Owned by the leader apply worker's thread.
 */
public final class ApplyDispatcher {

    private static final Logger log = LoggerFactory.getLogger(ApplyDispatcher.class);

    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final SubscribedTables tables;
    private final AppliedPositions positions;
    private final SubscriptionStats stats;
    private final Consumer<ChangeBatch> sealed;
    private final ApplyErrorContext context;
    private final Set<QualifiedName> reported = new HashSet<>();

    /** Everything that ends at or before this position is on the target already: its remote_lsn when streaming began. */
    private final Lsn startLsn;

    private @Nullable Begin transaction;

    /** @param sealed takes each batch that is ready to be executed; it may wait */
    public ApplyDispatcher(
            String originName,
            BatchBuilder batch,
            OpenRelations relations,
            SubscribedTables tables,
            AppliedPositions positions,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed) {
        this.batch = batch;
        this.relations = relations;
        this.tables = tables;
        this.positions = positions;
        this.stats = stats;
        this.sealed = sealed;
        this.context = new ApplyErrorContext(originName);
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

    /**
     * Dispatches one message.
     *
     * @param wireBytes what the message took, for the batch's limit
     * @throws ApplyException with its context; the open transaction is dropped, whole ones before it stay in the batch
     */
    public void dispatch(PgOutputMessage message, int wireBytes) {
        context.message(message.type(), null);
        try {
            Lsn end = handle(message, wireBytes);
            if (end != null) {
                positions.consumed(end);
                context.clear();
            }
        } catch (ApplyException e) {
            batch.dropOpenTransaction();
            transaction = null;
            throw context.addTo(e);
        }
    }

    /** The end of the transaction that the message ended, else null. */
    private @Nullable Lsn handle(PgOutputMessage message, int wireBytes) {
        return switch (message.type()) {
            case BEGIN -> handleBegin((Begin) message);
            case COMMIT -> handleCommit((Commit) message);
            case INSERT -> handleInsert((Insert) message, wireBytes);
            case UPDATE -> handleUpdate((Update) message, wireBytes);
            case DELETE -> handleDelete((Delete) message, wireBytes);
            case TRUNCATE -> handleTruncate((Truncate) message, wireBytes);
            case RELATION -> handleRelation((Relation) message);
            // worker.c, apply_handle_type: nothing to do, the target's own types apply; apply_handle_origin:
            // informative.
            // A logical message comes only if it was asked for, and means nothing to a target.
            case TYPE, ORIGIN, MESSAGE -> null;
            case BEGIN_PREPARE, PREPARE, COMMIT_PREPARED, ROLLBACK_PREPARED -> throw notAskedFor(message, "two_phase");
            case STREAM_START, STREAM_STOP, STREAM_COMMIT, STREAM_ABORT, STREAM_PREPARE ->
                throw notAskedFor(message, "streaming");
        };
    }

    private static ApplyException notAskedFor(PgOutputMessage message, String option) {
        return new ApplyException(
                Kind.PROTOCOL_VIOLATION,
                "the publisher sent " + message.type().label() + " although " + option + " was not asked for");
    }

    private @Nullable Lsn handleBegin(Begin begin) {
        if (transaction != null) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    "transaction " + begin.xid() + " begins inside transaction " + transaction.xid());
        }
        transaction = begin;
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

    /**
     * Whether the target has the transaction already. Only end_lsn may be compared with the progress, since the next transaction's
     * commit LSN may equal it; a commit record that begins before the progress also ends at or before it, for the progress is a
     * record's end. {@link #handleCommit} checks that conclusion.
     */
    private boolean isApplied(Begin begin) {
        return begin.finalLsn().isBefore(startLsn);
    }

    private Lsn handleCommit(Commit commit) {
        Begin begin = requireTransaction();
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

    private @Nullable Lsn handleRelation(Relation relation) {
        if (relations.willReplace(relation)) {
            // What came before was meant for the relation as it was.
            batch.sealAll().forEach(sealed);
        }
        relations.put(relation);
        return null;
    }

    private @Nullable Lsn handleInsert(Insert insert, int wireBytes) {
        RelationMapEntry entry = entryFor(insert.relation());
        if (entry != null) {
            add(new Change(Change.Kind.INSERT, entry, null, insert.newTuple()), wireBytes);
        }
        return null;
    }

    private @Nullable Lsn handleUpdate(Update update, int wireBytes) {
        RelationMapEntry entry = entryFor(update.relation());
        if (entry != null) {
            entry.requireUpdatable();
            OldTuple old = update.oldTuple();
            add(new Change(Change.Kind.UPDATE, entry, old == null ? null : old.tuple(), update.newTuple()), wireBytes);
        }
        return null;
    }

    private @Nullable Lsn handleDelete(Delete delete, int wireBytes) {
        RelationMapEntry entry = entryFor(delete.relation());
        if (entry != null) {
            entry.requireUpdatable();
            add(new Change(Change.Kind.DELETE, entry, delete.oldTuple().tuple(), null), wireBytes);
        }
        return null;
    }

    private @Nullable Lsn handleTruncate(Truncate truncate, int wireBytes) {
        List<RelationMapEntry> entries = new ArrayList<>();
        for (Oid oid : truncate.relations()) {
            RelationMapEntry entry = entryFor(oid);
            if (entry != null) {
                entries.add(entry);
            }
        }
        if (!entries.isEmpty()) {
            batch.add(new Truncation(entries, truncate.restartIdentity()), wireBytes);
            sealIfFull();
        }
        return null;
    }

    /** The open relation of a change that is to be applied, or null if it is skipped by a rule. */
    private @Nullable RelationMapEntry entryFor(Oid oid) {
        Begin begin = requireTransaction();
        if (isApplied(begin)) {
            return null;
        }
        QualifiedName name = relations.name(oid);
        context.relation(name.toString());
        // worker.c opens the relation before it looks at its state: a missing table stops even where it is not
        // subscribed to.
        RelationMapEntry entry = relations.open(oid);
        if (tables.takes(name, begin.finalLsn())) {
            return entry;
        }
        stats.skippedChanges.increment();
        if (!tables.contains(name) && reported.add(name)) {
            log.warn(
                    "table \"{}\" is published but not part of the subscription; its changes are skipped and counted",
                    name);
        }
        return null;
    }

    private void add(Change change, int wireBytes) {
        batch.add(change, wireBytes);
        sealIfFull();
    }

    private void sealIfFull() {
        if (batch.isFull()) {
            batch.seal().forEach(sealed);
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
