package dev.pgapply.core.tablesync;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides which changes a table takes (worker.c, should_apply_changes_for_rel). Immutable.
 *
 * @param tables the subscription's tables, as pgapply.subscription_rel has them
 */
public record SubscribedTables(Map<QualifiedName, Entry> tables) {

    /** @param syncLsn where the copy is consistent; null for a READY table that was never copied */
    public record Entry(TableSyncState state, @Nullable Lsn syncLsn) {}

    public SubscribedTables {
        tables = Map.copyOf(tables);
    }

    public boolean contains(QualifiedName table) {
        return tables.containsKey(table);
    }

    /**
     * Whether every table takes all changes of a transaction in progress, whose commit LSN is not known yet.
     *
     * @param reached a position that its commit will lie at or behind
     */
    public boolean allTake(Lsn reached) {
        return tables.keySet().stream().allMatch(table -> takes(table, reached));
    }

    /**
     * Whether a transaction's changes are applied to the table. Its commit LSN may equal the sync LSN: the first transaction after a
     * consistent point may have exactly that commit LSN.
     *
     * @param finalLsn the transaction's commit LSN, as Begin announces it
     */
    public boolean takes(QualifiedName table, Lsn finalLsn) {
        Entry entry = tables.get(table);
        if (entry == null) {
            return false;
        }
        return switch (entry.state()) {
            case READY -> true;
            case SYNCDONE -> {
                Lsn syncLsn = entry.syncLsn();
                yield syncLsn == null || !finalLsn.isBefore(syncLsn);
            }
            case INIT, DATASYNC, FINISHEDCOPY -> false;
        };
    }

    /** The same, but for one table. */
    public SubscribedTables with(QualifiedName table, Entry entry) {
        Map<QualifiedName, Entry> changed = new HashMap<>(tables);
        changed.put(table, entry);
        return new SubscribedTables(changed);
    }

    /** The same without one table. */
    public SubscribedTables without(QualifiedName table) {
        Map<QualifiedName, Entry> changed = new HashMap<>(tables);
        changed.remove(table);
        return new SubscribedTables(changed);
    }
}
