package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.ReplicationSlots;

/** {@code create_slot: false}: the first start takes a slot that somebody else has made, where it stands. Stateless. */
final class SlotAdoption {

    private SlotAdoption() {}

    /**
     * @return the slot's confirmed position, where the subscription begins
     * @throws ApplyException of kind PRECONDITION, SLOT_LOST or SLOT_IN_USE if the slot cannot be taken
     */
    static Lsn confirmedLsn(SubscriptionOptions options, SubscriptionRow row, PublisherCatalog catalog, int major) {
        if (options.copyData()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "create_slot: false with copy_data: true is not possible: a slot that exists has no snapshot to copy from",
                    "set copy_data: false, or let pgapply create the slot");
        }
        if (row.slotState() != SlotState.NONE) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "an earlier first start of subscription \"" + row.name() + "\" with create_slot: true did not end",
                    "set create_slot: true to let it begin again, or drop the subscription first");
        }
        ReplicationSlot slot = catalog.slot(row.slotName(), major);
        if (slot == null) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "replication slot \"" + row.slotName() + "\" does not exist and create_slot is false",
                    "create it with pg_create_logical_replication_slot('" + row.slotName()
                            + "', 'pgoutput'), or set create_slot: true");
        }
        slot.requireUsable(options.twoPhase());
        if (slot.activePid() != null) {
            throw ReplicationSlots.inUse(slot);
        }
        Lsn confirmed = slot.confirmedFlushLsn();
        if (confirmed == null) {
            throw new ApplyException(
                    Kind.PRECONDITION, "replication slot \"" + row.slotName() + "\" has no confirmed position yet");
        }
        return confirmed;
    }
}
