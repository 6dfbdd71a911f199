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
 * Adds the changes of the open transaction to the batch (worker.c, apply_handle_insert, _update, _delete, _truncate, _relation). Owned
 * by the leader apply worker's thread.
 */
final class ChangeCollector {

    private static final Logger log = LoggerFactory.getLogger(ChangeCollector.class);

    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final SubscribedTables tables;
    private final SubscriptionStats stats;
    private final Consumer<ChangeBatch> sealed;
    private final ApplyErrorContext context;
    private final Set<QualifiedName> reported = new HashSet<>();

    /** @param sealed takes each batch that is ready to be executed; it may wait */
    ChangeCollector(
            BatchBuilder batch,
            OpenRelations relations,
            SubscribedTables tables,
            SubscriptionStats stats,
            Consumer<ChangeBatch> sealed,
            ApplyErrorContext context) {
        this.batch = batch;
        this.relations = relations;
        this.tables = tables;
        this.stats = stats;
        this.sealed = sealed;
        this.context = context;
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
            RelationMapEntry entry = entryFor(oid, finalLsn);
            if (entry != null) {
                entries.add(entry);
            }
        }
        if (!entries.isEmpty()) {
            batch.add(new Truncation(entries, truncate.restartIdentity()), wireBytes);
            sealIfFull();
        }
    }

    /** The open relation of a change that is to be applied, or null if it is skipped by a rule. */
    private @Nullable RelationMapEntry entryFor(Oid oid, Lsn finalLsn) {
        QualifiedName name = relations.name(oid);
        context.relation(name);
        // worker.c opens the relation before it looks at its state: a missing table stops even where it is not
        // subscribed to.
        RelationMapEntry entry = relations.open(oid);
        if (tables.takes(name, finalLsn)) {
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
}
