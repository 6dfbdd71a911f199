package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherFacts;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.ReplicationSlots;
import org.jspecify.annotations.Nullable;

/** Whether the subscription's slot is there, or can be created. Owned by the thread that runs the preflight. */
final class SlotCheck {

    private final SubscriptionOptions options;
    private final ReplicationSlots slots;
    private final PublisherCatalog catalog;
    private final Findings findings;

    SlotCheck(SubscriptionOptions options, PostgresConnections publisher, PublisherCatalog catalog, Findings findings) {
        this.options = options;
        this.slots = new ReplicationSlots(publisher, options.name());
        this.catalog = catalog;
        this.findings = findings;
    }

    void run(@Nullable SubscriptionRow row, PublisherFacts facts) {
        SlotState state = row == null ? SlotState.NONE : row.slotState();
        ReplicationSlot slot = catalog.slot(options.slotName(), facts.major());
        if (facts.walSenders() >= facts.maxWalSenders()) {
            findings.error(
                    "publisher_walsenders",
                    "all " + facts.maxWalSenders() + " walsenders of the publisher are in use (max_wal_senders)",
                    "raise max_wal_senders and restart the publisher, or end one that is not needed");
        }
        if (slot == null) {
            checkMissing(state, facts);
            return;
        }
        checkUse(slot);
        switch (state) {
            case NONE -> checkBefore(slot);
            case CREATING ->
                findings.ok(
                        "slot",
                        "replication slot \"" + slot.name() + "\" is left of a first start that will begin again");
            case COPYING ->
                findings.ok(
                        "slot",
                        "replication slot \"" + slot.name() + "\" is that of a first start that has not ended yet");
            case READY -> checkUsable(slot);
        }
    }

    private void checkMissing(SlotState state, PublisherFacts facts) {
        String name = options.slotName();
        if (state == SlotState.READY) {
            findings.error(
                    "slot",
                    "replication slot \"" + name
                            + "\" does not exist on the publisher any more: what it would have sent is lost",
                    "drop the subscription, empty its tables and start it anew");
            return;
        }
        if (!options.createSlot()) {
            findings.error(
                    "slot",
                    "replication slot \"" + name + "\" does not exist and create_slot is false",
                    "create it with pg_create_logical_replication_slot('" + name
                            + "', 'pgoutput'), or set create_slot: true");
            return;
        }
        if (facts.replicationSlots() >= facts.maxReplicationSlots()) {
            findings.error(
                    "publisher_slots",
                    "all " + facts.maxReplicationSlots()
                            + " replication slots of the publisher are taken (max_replication_slots)",
                    "raise max_replication_slots and restart the publisher, or drop a slot that is not needed");
            return;
        }
        findings.ok("slot", "replication slot \"" + name + "\" will be created");
    }

    /** The subscription's own engine may be at work while it is checked. */
    private void checkUse(ReplicationSlot slot) {
        if (slot.activePid() != null && !slots.isUsedByOwn(slot)) {
            findings.error("slot", ReplicationSlots.inUse(slot));
        }
    }

    private void checkBefore(ReplicationSlot slot) {
        if (options.createSlot()) {
            findings.error(
                    "slot",
                    "replication slot \"" + slot.name() + "\" already exists on the publisher (" + slot.description()
                            + ")",
                    "drop that slot if nobody needs it, choose another slot_name, or set create_slot: false and copy_data: false to"
                            + " go on from where it stands");
            return;
        }
        checkUsable(slot);
        if (options.copyData()) {
            findings.error(
                    "slot",
                    "create_slot: false with copy_data: true is not possible: a slot that exists has no snapshot to copy from",
                    "set copy_data: false, or let pgapply create the slot");
        }
    }

    private void checkUsable(ReplicationSlot slot) {
        try {
            slot.requireUsable(options.twoPhase());
            findings.ok(
                    "slot",
                    "replication slot \"" + slot.name() + "\" stands at " + slot.confirmedFlushLsn()
                            + (slot.walStatus() == null ? "" : ", wal_status " + slot.walStatus()));
        } catch (ApplyException e) {
            findings.error("slot", e);
        }
    }
}
