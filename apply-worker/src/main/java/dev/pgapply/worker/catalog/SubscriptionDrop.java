package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.origin.CopyOrigin;
import dev.pgapply.worker.origin.PreparedTransactionRecord;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.ReplicationSlots;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends a subscription for good (subscriptioncmds.c, DropSubscription): as its owner it removes the slot on the publisher, then what is
 * still prepared, the origin and the rows on the target. The record goes last, so that a drop that fails can be repeated; it also ends what a first start that
 * crashed has left. Used once, on one thread.
 */
public final class SubscriptionDrop {

    private static final Duration SLOT_PATIENCE = Duration.ofSeconds(10);

    /** What becomes of the slot on the publisher. */
    public enum SlotEnd {
        /** Removed; nothing is dropped where that fails. */
        DROPPED,
        /** Left alone, and the publisher not asked: for one that is gone for good (ALTER SUBSCRIPTION … SET (slot_name = NONE)). */
        KEPT
    }

    private final SubscriptionOptions options;
    private final SubscriptionCatalog catalog;
    private final PostgresConnections publisher;
    private final PostgresConnections target;

    public SubscriptionDrop(SubscriptionOptions options, SubscriptionCatalog catalog) {
        this.options = options;
        this.catalog = catalog;
        this.publisher = new PostgresConnections(options.publisher());
        this.target = new PostgresConnections(options.target());
    }

    /**
     * @return what was removed, for people
     * @throws ApplyException PRECONDITION if there is no such subscription, or an engine has it; nothing was changed then
     */
    public List<String> run(SlotEnd slotEnd) {
        String application = "pgapply " + options.name() + " drop";
        try (Connection connection = target.openTarget(application)) {
            SubscriptionRow row = catalog.find(connection, options.name());
            if (row == null) {
                throw ApplyException.withHint(
                        Kind.PRECONDITION,
                        "there is no subscription \"" + options.name() + "\" in "
                                + target.url().display(),
                        "there is nothing to drop; an engine that has never started leaves nothing behind");
            }
            SubscriptionIdentity.checkTarget(row, TargetIdentity.read(connection));
            try (Ownership ownership = Ownership.open(target, application, row.subid(), () -> {})) {
                return asOwner(connection, ownership, row, slotEnd);
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
    }

    private List<String> asOwner(Connection connection, Ownership ownership, SubscriptionRow row, SlotEnd slotEnd) {
        LockHolder holder = ownership.tryAcquire();
        if (holder != null) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "subscription \"" + options.name() + "\" is in use by an engine: " + holder,
                    "stop that engine, or disable the subscription there");
        }
        ownership.takeOver(sessions -> {});
        List<String> removed = new ArrayList<>();
        if (row.slotState() != SlotState.NONE) {
            removed.add(slotEnd == SlotEnd.KEPT ? kept(row) : dropSlot(row));
        }
        catalog.migrate(connection);
        for (String gid : PreparedTransactionRecord.rollBackAll(connection, row.subid())) {
            removed.add("prepared transaction \"" + gid + "\", rolled back");
        }
        CopyOrigin.dropAll(connection, row.subid());
        catalog.drop(connection, row.subid());
        removed.add("state of subscription \"" + options.name() + "\" in "
                + target.url().display());
        return removed;
    }

    private String kept(SubscriptionRow row) {
        return "no slot: \"" + row.slotName() + "\" is kept; while it stands on "
                + publisher.url().display() + ", that server keeps WAL for it";
    }

    private String dropSlot(SubscriptionRow row) {
        try {
            return dropReachableSlot(row);
        } catch (ApplyException e) {
            if (e.kind() != Kind.CONNECTION) {
                throw e;
            }
            throw new ApplyException(
                    Kind.CONNECTION,
                    e.getMessage(),
                    "nothing was dropped; try again when the publisher answers, or with --keep-slot if it is gone for good",
                    e.sqlState(),
                    null,
                    e);
        }
    }

    private String dropReachableSlot(SubscriptionRow row) {
        try (Connection replication = publisher.openReplication(options.name())) {
            SubscriptionIdentity.checkPublisher(row, PublisherIdentity.of(replication), options.slotName());
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
        String slotName = row.slotName();
        try (Connection connection = publisher.open("pgapply " + options.name() + " drop")) {
            PublisherCatalog publisherCatalog = new PublisherCatalog(connection);
            int major = publisherCatalog.facts().major();
            ReplicationSlots.endTemporary(connection, row.subid());
            ReplicationSlot slot = publisherCatalog.slot(slotName, major);
            if (slot == null) {
                return "no slot: \"" + slotName + "\" is not on the publisher";
            }
            String foreign = foreign(row, slot);
            if (foreign != null) {
                return foreign;
            }
            ReplicationSlots slots = new ReplicationSlots(publisher, options.name());
            slots.endOwnWalsender(publisherCatalog, connection, slotName, major);
            slots.drop(slotName, SLOT_PATIENCE);
            return "replication slot \"" + slotName + "\" on " + publisher.url().display();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
    }

    /** A slot that no pgapply would have created is left alone. */
    private static @Nullable String foreign(SubscriptionRow row, ReplicationSlot slot) {
        boolean ours = "logical".equals(slot.slotType()) && "pgoutput".equals(slot.plugin()) && slot.currentDatabase();
        return ours
                ? null
                : "no slot: \"" + row.slotName() + "\" is not this subscription's, it is " + slot.description();
    }
}
