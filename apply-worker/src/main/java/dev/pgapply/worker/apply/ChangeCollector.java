package dev.pgapply.worker.apply;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.OldTuple;
import dev.pgapply.core.pgoutput.PgOutputEncoder;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.tablesync.HeldTables;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds the changes of the open transaction to the batch (worker.c, apply_handle_insert, _update, _delete, _truncate, _relation). Owned
 * by the leader apply worker's thread.
 */
final class ChangeCollector {

    private static final Logger log = LoggerFactory.getLogger(ChangeCollector.class);

    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final Tables tables;
    private final boolean oneTable;
    private final SubscriptionStats stats;
    private final Consumer<ChangeBatch> sealed;
    private final ApplyErrorContext context;
    private final Set<QualifiedName> reported = new HashSet<>();

    /** What is done with a table's changes. */
    private interface Tables {

        HeldTables.Route route(QualifiedName table, Lsn finalLsn);

        /** The bytes that the next change is made of, where they are other ones than those that came. */
        default void message(byte[] message) {}

        /** Holds the change back. */
        default void hold(QualifiedName table, Relation inForce) {
            throw new IllegalStateException("table " + table + " is not held");
        }
    }

    /** @param sealed takes each batch that is ready to be executed; it may wait */
    ChangeCollector(
            BatchBuilder batch,
            OpenRelations relations,
            TableHolds holds,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed,
            ApplyErrorContext context) {
        this(batch, relations, new Held(holds), false, stats, sealed, context);
    }

    /** For a replay of what was held back of one table; other tables' parts of a TRUNCATE are not in it. */
    static ChangeCollector ofOneTable(
            BatchBuilder batch,
            OpenRelations relations,
            SubscribedTables only,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed,
            ApplyErrorContext context) {
        Tables tables =
                (table, finalLsn) -> only.takes(table, finalLsn) ? HeldTables.Route.APPLY : HeldTables.Route.SKIP;
        return new ChangeCollector(batch, relations, tables, true, stats, sealed, context);
    }

    /** For a parallel apply worker, which has a transaction only while no table is held. */
    static ChangeCollector ofWorker(
            BatchBuilder batch,
            OpenRelations relations,
            Supplier<SubscribedTables> subscribed,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed,
            ApplyErrorContext context) {
        Tables tables = (table, finalLsn) -> {
            SubscribedTables now = subscribed.get();
            if (now.takes(table, finalLsn)) {
                return HeldTables.Route.APPLY;
            }
            return now.contains(table) ? HeldTables.Route.SKIP : HeldTables.Route.NOT_SUBSCRIBED;
        };
        return new ChangeCollector(batch, relations, tables, false, stats, sealed, context);
    }

    private ChangeCollector(
            BatchBuilder batch,
            OpenRelations relations,
            Tables tables,
            boolean oneTable,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed,
            ApplyErrorContext context) {
        this.batch = batch;
        this.relations = relations;
        this.tables = tables;
        this.oneTable = oneTable;
        this.stats = stats;
        this.sealed = sealed;
        this.context = context;
    }

    /** The leader's: some tables may be held. */
    private record Held(TableHolds holds) implements Tables {

        @Override
        public HeldTables.Route route(QualifiedName table, Lsn finalLsn) {
            return holds.route(table, finalLsn);
        }

        @Override
        public void message(byte[] message) {
            holds.message(message, 0, message.length, false);
        }

        @Override
        public void hold(QualifiedName table, Relation inForce) {
            holds.append(table, inForce);
        }
    }

    void handleRelation(Relation relation) {
        if (relations.willReplace(relation)) {
            // What came before was meant for the relation as it was.
            batch.sealAll().forEach(sealed);
        }
        relations.put(relation);
    }

    /** @param finalLsn the transaction's, as of the following */
    void handleInsert(Insert insert, Lsn finalLsn, int wireBytes) {
        RelationMapEntry entry = entryFor(insert.relation(), finalLsn);
        if (entry != null) {
            add(new Change(Change.Kind.INSERT, entry, null, insert.newTuple()), wireBytes);
        }
    }

    void handleUpdate(Update update, Lsn finalLsn, int wireBytes) {
        RelationMapEntry entry = entryFor(update.relation(), finalLsn);
        if (entry != null) {
            entry.requireUpdatable();
            OldTuple old = update.oldTuple();
            add(new Change(Change.Kind.UPDATE, entry, old == null ? null : old.tuple(), update.newTuple()), wireBytes);
        }
    }

    void handleDelete(Delete delete, Lsn finalLsn, int wireBytes) {
        RelationMapEntry entry = entryFor(delete.relation(), finalLsn);
        if (entry != null) {
            entry.requireUpdatable();
            add(new Change(Change.Kind.DELETE, entry, delete.oldTuple().tuple(), null), wireBytes);
        }
    }

    void handleTruncate(Truncate truncate, Lsn finalLsn, int wireBytes) {
        List<RelationMapEntry> entries = new ArrayList<>();
        for (Oid oid : truncate.relations()) {
            tables.message(PgOutputEncoder.truncate(truncate, oid));
            RelationMapEntry entry = entryFor(oid, finalLsn);
            if (entry != null) {
                entries.add(entry);
            }
        }
        if (!entries.isEmpty()) {
            boolean inPart = oneTable || entries.size() < truncate.relations().size();
            batch.add(new Truncation(entries, truncate.restartIdentity(), inPart), wireBytes);
            sealIfFull();
        }
    }

    /** The open relation of a change that is to be applied, or null if it is held back, or skipped by a rule. */
    private @Nullable RelationMapEntry entryFor(Oid oid, Lsn finalLsn) {
        QualifiedName name = relations.name(oid);
        context.relation(name);
        return switch (tables.route(name, finalLsn)) {
            case APPLY -> relations.open(oid);
            case HOLD -> {
                tables.hold(name, relations.remote(oid));
                yield null;
            }
            case SKIP -> {
                stats.skippedChanges.increment();
                yield null;
            }
            case NOT_SUBSCRIBED -> {
                relations.passBy(oid);
                stats.skippedChanges.increment();
                if (reported.add(name)) {
                    log.warn(
                            "table \"{}\" is published but not part of the subscription; its changes are skipped and counted"
                                    + " until refresh",
                            name);
                }
                yield null;
            }
        };
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
}
