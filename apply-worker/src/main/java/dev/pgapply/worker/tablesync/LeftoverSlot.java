package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.ReplicationSlots;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The slot that a first start finds under its name: none, somebody else's, or that of an earlier one which did not end. It is removed only for
 * a subscription whose record says that the slot was its to create, and only under its lock. Stateless.
 */
final class LeftoverSlot {

    private static final Duration DROP_PATIENCE = Duration.ofSeconds(10);

    private final ReplicationSlots slots;
    private final String slotName;

    LeftoverSlot(PostgresConnections publisher, String subscription, String slotName) {
        this.slots = new ReplicationSlots(publisher, subscription);
        this.slotName = slotName;
    }

    /**
     * Drops the slot if it is there, after ending the walsender that an earlier life of the subscription left on it.
     *
     * @throws ApplyException of kind PRECONDITION if it is no slot that pgapply would have created; SLOT_IN_USE if somebody else uses it
     */
    void remove(Connection publisher, int major) {
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        ReplicationSlot slot = catalog.slot(slotName, major);
        if (slot == null) {
            return;
        }
        if (!slot.isUsable()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "replication slot \"" + slotName + "\" is not this subscription's: it is " + slot.description(),
                    "choose another slot_name");
        }
        slots.endOwnWalsender(catalog, publisher, slotName, major);
        slots.drop(slotName, DROP_PATIENCE);
    }

    /** Whether the slot still is where a first start has made it, so that a stream from there misses nothing. */
    boolean standsAt(Connection publisher, int major, Lsn consistentPoint) {
        ReplicationSlot slot = new PublisherCatalog(publisher).slot(slotName, major);
        return slot != null && slot.isUsable() && !slot.isLost() && consistentPoint.equals(slot.confirmedFlushLsn());
    }

    /** @throws ApplyException of kind PRECONDITION if a slot of that name is there: it is somebody else's */
    void requireNone(Connection publisher, int major) {
        ReplicationSlot slot = new PublisherCatalog(publisher).slot(slotName, major);
        if (slot == null) {
            return;
        }
        throw ApplyException.withHint(
                Kind.PRECONDITION,
                "replication slot \"" + slot.name() + "\" already exists (" + slot.description() + ")"
                        + (slot.activePid() == null ? "" : ", active for pid " + slot.activePid()),
                "drop that slot if nobody needs it, choose another slot_name, or set create_slot: false and copy_data: false to go on"
                        + " from where it stands");
    }

    /** Drops the slot unless somebody uses it; harmless if there is none. */
    void dropIfInactive(Connection publisher) {
        try (PreparedStatement statement = publisher.prepareStatement(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                        + " WHERE slot_name = ? AND NOT active AND plugin = 'pgoutput' AND database = current_database()")) {
            statement.setString(1, slotName);
            statement.execute();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not drop replication slot \"" + slotName + "\"", e);
        }
    }
}
