package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import org.jspecify.annotations.Nullable;

/**
 * A slot as pg_replication_slots has it.
 *
 * @param plugin null for a physical slot
 * @param slotType {@code logical} or {@code physical}
 * @param database null for a physical slot
 * @param currentDatabase whether it belongs to the database that was asked
 * @param activePid the process that uses it, or null
 * @param activeApplicationName the application_name of that process
 * @param walStatus reserved, extended, unreserved or lost
 * @param invalidationReason why it was invalidated, from PostgreSQL 17 on
 */
public record ReplicationSlot(
        String name,
        @Nullable String plugin,
        String slotType,
        @Nullable String database,
        boolean currentDatabase,
        boolean temporary,
        boolean twoPhase,
        @Nullable Integer activePid,
        @Nullable String activeApplicationName,
        @Nullable Lsn restartLsn,
        @Nullable Lsn confirmedFlushLsn,
        @Nullable String walStatus,
        @Nullable String invalidationReason) {

    /** Whether the publisher has thrown away WAL that the slot needs, so that changes are lost. */
    public boolean isLost() {
        return invalidationReason != null || "lost".equals(walStatus);
    }

    /** Whether it is what a subscription of this database can stream from. */
    public boolean isUsable() {
        return "logical".equals(slotType) && "pgoutput".equals(plugin) && currentDatabase && !temporary;
    }

    /** What the slot is, for people: {@code logical, plugin "pgoutput", database "shop"}. */
    public String description() {
        return slotType
                + (plugin == null ? "" : ", plugin \"" + plugin + "\"")
                + (database == null ? "" : ", database \"" + database + "\"")
                + (temporary ? ", temporary" : "");
    }

    /**
     * @param twoPhaseWanted the option two_phase
     * @throws ApplyException of kind PRECONDITION if it is no slot for pgoutput of this database, or sends prepared transactions where
     *     they are not wanted; of kind SLOT_LOST if it is invalidated
     */
    public void requireUsable(boolean twoPhaseWanted) {
        if (!isUsable()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "replication slot \"" + name + "\" cannot be used: it is " + description(),
                    "it must be a logical slot of the publisher's database with the plugin \"pgoutput\"");
        }
        if (isLost()) {
            throw ApplyException.withHint(
                    Kind.SLOT_LOST,
                    "replication slot \"" + name + "\" is invalidated"
                            + (invalidationReason == null ? "" : " (" + invalidationReason + ")")
                            + ": changes behind " + confirmedFlushLsn + " are lost",
                    "drop the subscription and begin again with a new copy; max_slot_wal_keep_size on the publisher sets how much"
                            + " WAL a slot may hold");
        }
        if (twoPhase && !twoPhaseWanted) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "replication slot \"" + name
                            + "\" sends prepared transactions (two_phase), which this subscription does not ask for",
                    "set two_phase: true; a slot that has it once keeps it, so to be without, begin again with another slot");
        }
    }
}
