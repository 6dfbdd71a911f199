package dev.pgapply.core.tablesync;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.spool.HeldSpool;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the leader apply worker does with a change of a table: apply it, hold it back while the table is copied, or skip it. Asked once for
 * each change; changed only between transactions. Owned by the leader apply worker's thread.
 *
 * <pre>
 *   not taken ──hold──► held ──release (copied, caught up)──► taken
 *   taken ─────hold──►  held ──give up (failed)────────────► not taken
 * </pre>
 */
public final class HeldTables {

    /** What is done with a change. */
    public enum Route {
        APPLY,
        HOLD,
        /** The copy holds it, or one to come will. */
        SKIP,
        /** The table is published but not part of the subscription. */
        NOT_SUBSCRIBED
    }

    private SubscribedTables tables;
    private final Map<QualifiedName, HeldSpool> held = new HashMap<>();

    public HeldTables(SubscribedTables tables) {
        this.tables = tables;
    }

    /** @param finalLsn the transaction's commit LSN, as Begin announces it */
    public Route route(QualifiedName table, Lsn finalLsn) {
        if (tables.takes(table, finalLsn)) {
            return Route.APPLY;
        }
        if (held.containsKey(table)) {
            return Route.HOLD;
        }
        return tables.contains(table) ? Route.SKIP : Route.NOT_SUBSCRIBED;
    }

    /** Where the tables stand; a held one as one that is being copied. */
    public SubscribedTables subscribed() {
        return tables;
    }

    /** The spool of a held table, or null. */
    public @Nullable HeldSpool spool(QualifiedName table) {
        return held.get(table);
    }

    /** From now on the table's changes go to the spool. */
    public void hold(QualifiedName table, HeldSpool spool) {
        if (held.putIfAbsent(table, spool) != null) {
            throw new IllegalStateException("table " + table + " is held already");
        }
        tables = tables.with(table, new SubscribedTables.Entry(TableSyncState.DATASYNC, null));
    }

    /**
     * The table stands otherwise now: it is not held any more.
     *
     * @return the spool that it had, for the caller to delete, or null
     */
    public @Nullable HeldSpool set(QualifiedName table, SubscribedTables.Entry entry) {
        tables = tables.with(table, entry);
        return held.remove(table);
    }

    /**
     * The table is not part of the subscription any more.
     *
     * @return the spool that it had, for the caller to delete, or null
     */
    public @Nullable HeldSpool remove(QualifiedName table) {
        tables = tables.without(table);
        return held.remove(table);
    }
}
