package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.origin.CopyOrigin;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherFacts;
import dev.pgapply.worker.publisher.SlotCreation;
import dev.pgapply.worker.publisher.SlotCreation.Created;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first start of a subscription: from nothing to a slot and tables that are consistent at one point of the publisher's WAL, where
 * streaming begins. {@link #run} belongs to the subscription's thread; {@link #stop} may come from any. Used once.
 *
 * <pre>
 * check → absent tables created → intent recorded (creating) → slot with exported snapshot → its consistent point recorded (copying)
 *       → tables copied in parallel under the snapshot, large ones in parts, each s when all its rows are committed → ready
 *       → created tables completed: indexes, foreign keys
 * </pre>
 *
 * <p>A table that cannot be copied from the snapshot shows its error and stops no other: it stays i or d, and is copied beside the stream
 * ({@link TableSync}). So is what a start left that broke off when the slot was there already: the snapshot is lost with it, but the tables
 * in s are consistent where the slot stands. Before that point the next start drops the slot and begins again. What nobody recorded is never
 * touched: a slot or a row found before the intent is somebody else's.
 */
public final class InitialCopy {

    private static final Logger log = LoggerFactory.getLogger(InitialCopy.class);

    private final SubscriptionOptions options;
    private final CopyConnections connections;
    private final Target describer;
    private final SubscriptionCatalog state;
    private final TableCatalog tableStates = new TableCatalog();
    private final SubscriptionStats stats;
    private final Ticker ticker;
    private final FirstTableCreation creation;

    private volatile boolean stopRequested;

    /**
     * @param connections this copy's own; closed when {@link #run} ends
     * @param describer describes the target's tables
     */
    public InitialCopy(
            SubscriptionOptions options,
            CopyConnections connections,
            Target describer,
            SubscriptionCatalog state,
            SubscriptionStats stats,
            Ticker ticker) {
        this.options = options;
        this.connections = connections;
        this.describer = describer;
        this.state = state;
        this.stats = stats;
        this.ticker = ticker;
        this.creation = new FirstTableCreation(options, stats, ticker);
    }

    /**
     * Makes the first start, or only what is left of it. When this returns the slot exists, the tables are in state s at the consistent
     * point, or i or d where they could not be copied from there, and all of it is durable.
     *
     * @param row as it was read after the takeover
     * @return the row, its slot state ready
     * @throws ApplyException if it cannot be done; the slot is dropped again where that is possible. After {@link #stop}, of any kind.
     */
    public SubscriptionRow run(SubscriptionRow row) {
        try {
            SubscriptionRow ready = row.slotState() == SlotState.READY ? row : goOn(row);
            creation.complete(ready.subid(), connections);
            connections.finish();
            return ready;
        } catch (ApplyException e) {
            connections.close();
            // What is tried again within seconds cleans up by itself then, and an owner that was replaced must not
            // touch anything.
            if (!stopRequested && e.kind().remedy() != Remedy.RECONNECT) {
                giveSlotBack(row, e);
            }
            throw e;
        } finally {
            connections.close();
        }
    }

    /** Ends the copy within about two seconds; the slot is left for the next start. */
    public void stop() {
        stopRequested = true;
        connections.close();
    }

    /** Where an earlier first start broke off while it copied, what it has is kept; the rest is copied beside the stream. */
    private SubscriptionRow goOn(SubscriptionRow row) {
        Lsn point = row.consistentPoint();
        if (row.slotState() != SlotState.COPYING || point == null || !options.createSlot() || !options.copyData()) {
            return begin(row);
        }
        Connection publisher = connections.openPublisher();
        if (!slot(row)
                .standsAt(publisher, new PublisherCatalog(publisher).facts().major(), point)) {
            return begin(row);
        }
        Connection target = connections.openTarget();
        CopyOrigin.dropAll(target, row.subid());
        log.info(
                "subscription \"{}\": an earlier first start broke off after {}; tables that it did not finish are copied beside the stream",
                row.name(),
                point);
        return state.transition(target, row, SlotState.READY);
    }

    private LeftoverSlot slot(SubscriptionRow row) {
        return new LeftoverSlot(connections.publisher(), row.name(), row.slotName());
    }

    private SubscriptionRow begin(SubscriptionRow row) {
        stats.clearTables();
        Connection publisher = connections.openPublisher();
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        PublisherFacts facts = catalog.facts();
        facts.requireUsable();
        catalog.requirePublications(options.publications());
        Connection target = connections.openTarget();
        if (!options.createSlot()) {
            Lsn confirmed = SlotAdoption.confirmedLsn(options, row, catalog, facts.major());
            List<PublishedTable> published = catalog.tables(options.publications(), facts.major());
            creation.create(row.subid(), publisher, facts.major(), target, published);
            return beginWithoutCopy(row, target, confirmed, published);
        }
        removeLeftovers(row, publisher, target, facts.major());
        slot(row).requireNone(publisher, facts.major());
        List<PublishedTable> published = catalog.tables(options.publications(), facts.major());
        creation.create(row.subid(), publisher, facts.major(), target, published);
        FirstCopyPlan plan = plan(target, published);

        SubscriptionRow creating = state.transition(target, row, SlotState.CREATING);
        try (SlotCreation slot = new SlotCreation(connections.openReplication(), row.slotName())) {
            Created created = create(slot, creating, publisher, target, facts.major());
            SnapshotHolder holder = SnapshotHolder.open(publisher, created.snapshotName());
            requireSame(published, holder.tables(options.publications(), facts.major()));
            slot.close();
            return copy(creating, target, facts.major(), holder, created.consistentPoint(), plan);
        }
    }

    private FirstCopyPlan plan(Connection target, List<PublishedTable> published) {
        if (published.isEmpty()) {
            log.warn("subscription \"{}\": its publications have no table", options.name());
        }
        return FirstCopyPlan.of(options, new TargetTables(target, describer), published);
    }

    /** The tables take changes from the slot's point on, whatever is in them. */
    private SubscriptionRow beginWithoutCopy(
            SubscriptionRow row, Connection target, Lsn point, List<PublishedTable> published) {
        List<SubscriptionTable> tables = published.stream()
                .map(table -> new SubscriptionTable(table.name(), TableSyncState.SYNCDONE, point, 0, 0, null))
                .toList();
        for (SubscriptionTable table : tables) {
            stats.setTable(table.progress());
        }
        return state.slotCreated(target, row, SlotState.READY, point, tables, Map.of());
    }

    /** What an earlier try left: its slot, where the record says that it was ours to create, and the rows that it has copied. */
    private void removeLeftovers(SubscriptionRow row, Connection publisher, Connection target, int major) {
        if (row.slotState() != SlotState.CREATING && row.slotState() != SlotState.COPYING) {
            return;
        }
        log.info("subscription \"{}\": an earlier first start did not end, beginning again", row.name());
        slot(row).remove(publisher, major);
        List<SubscriptionTable> copied = tableStates.tables(target, row.subid()).stream()
                .filter(table -> table.state() != TableSyncState.INIT)
                .toList();
        CopyOrigin.dropAll(target, row.subid());
        if (!copied.isEmpty()) {
            new TargetTables(target, describer)
                    .empty(copied.stream().map(SubscriptionTable::table).toList());
        }
    }

    private Created create(
            SlotCreation creation, SubscriptionRow creating, Connection publisher, Connection target, int major) {
        try {
            return new SlotWait(options, creating.slotName(), null, publisher, stats, ticker).create(creation, major);
        } catch (ApplyException e) {
            if (e.kind() == Kind.PRECONDITION) {
                // Somebody else's slot, or none: the record must not say that there is one of ours to drop.
                state.transition(target, creating, SlotState.NONE);
            }
            throw e;
        }
    }

    /** The publications' tables are read before the slot's point and after it: if both are the same, so they were at it. */
    private static void requireSame(List<PublishedTable> before, List<PublishedTable> after) {
        if (!before.stream()
                .map(PublishedTable::withoutEstimates)
                .toList()
                .equals(after.stream().map(PublishedTable::withoutEstimates).toList())) {
            throw new ApplyException(
                    Kind.TRANSIENT, "the published tables changed while the slot was created, the copy begins again");
        }
    }

    private SubscriptionRow copy(
            SubscriptionRow creating,
            Connection target,
            int major,
            SnapshotHolder holder,
            Lsn point,
            FirstCopyPlan plan) {
        if (!options.copyData()) {
            return beginWithoutCopy(creating, target, point, plan.published());
        }
        SubscriptionRow copying = state.slotCreated(
                target,
                creating,
                SlotState.COPYING,
                point,
                plan.registered(),
                holder.publishing(plan.published(), options.publications(), major));
        int count = plan.published().size();
        stats.transition(SubscriptionStatus.COPYING, count + (count == 1 ? " table" : " tables") + " as of " + point);
        TableStates states = new TableStates(options.name(), copying.subid());
        states.load(target);
        CopyPace noStream = new CopyPace(ticker::nanos);
        SnapshotCopy snapshot = new SnapshotCopy(
                states, holder.snapshotName(), point, TableSyncState.SYNCDONE, noStream, stats, ticker);
        plan.registered().forEach(table -> stats.setTable(table.progress()));
        plan.copies().forEach(copy -> snapshot.show(copy, TableSyncState.INIT, 0, 0, null));
        plan.refused().forEach((table, reason) -> warn(table.name(), reason));
        new CopyWorkers(connections, holder, target, ticker)
                .copy(
                        snapshot,
                        plan.copies(),
                        options.maxSyncWorkers(),
                        (copy, reason) -> failed(states, target, copy, reason));
        // The session of a table that failed has left its origin behind.
        CopyOrigin.dropAll(target, copying.subid());
        return state.transition(target, copying, SlotState.READY);
    }

    private void failed(TableStates states, Connection target, TableCopy copy, ApplyException reason) {
        if (options.disableOnError() && reason.kind().remedy() == Remedy.RETRY_OR_DISABLE) {
            throw reason;
        }
        stats.setTable(states.recordFailed(target, copy.name(), reason).progress());
        warn(copy.name(), reason);
    }

    private void warn(QualifiedName table, ApplyException reason) {
        log.warn(
                "subscription \"{}\": table \"{}\" is left out of the first copy, and copied again beside the stream: {}",
                options.name(),
                table,
                TableStates.sentence(reason));
    }

    /** A slot that nobody reads keeps the publisher's WAL; and a wrong configuration should leave nothing behind. */
    private void giveSlotBack(SubscriptionRow row, ApplyException reason) {
        try (CopyConnections again = connections.again()) {
            Connection target = again.openTarget();
            SubscriptionRow now = state.find(target, row.name());
            if (now != null && (now.slotState() == SlotState.CREATING || now.slotState() == SlotState.COPYING)) {
                slot(row).dropIfInactive(again.openPublisher());
            }
        } catch (ApplyException e) {
            log.warn(
                    "subscription \"{}\": slot \"{}\" may be left on the publisher until the next start: {}",
                    row.name(),
                    row.slotName(),
                    e.getMessage());
            reason.addSuppressed(e);
        }
    }
}
