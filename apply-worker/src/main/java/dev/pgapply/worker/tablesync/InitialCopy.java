package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.catalog.CreatedTables;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.origin.CopyOrigin;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherFacts;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.SlotCreation;
import dev.pgapply.worker.publisher.SlotCreation.Created;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
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
 * <p>A crash at any point leaves what the next start recognises by the recorded slot state: it drops the slot, empties the tables that
 * were copied and begins again. What nobody recorded is never touched: a slot or a row found before the intent is somebody else's.
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
    }

    /**
     * Makes the first start, or only what is left of it. When this returns the slot exists, the tables are in state s at the consistent
     * point, and all of it is durable.
     *
     * @param row as it was read after the takeover
     * @return the row, its slot state ready
     * @throws ApplyException if it cannot be done; the slot is dropped again where that is possible. After {@link #stop}, of any kind.
     */
    public SubscriptionRow run(SubscriptionRow row) {
        try {
            SubscriptionRow ready = row.slotState() == SlotState.READY ? row : begin(row);
            completeTables(ready);
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
            createTables(row, publisher, facts.major(), target, published);
            return beginWithoutCopy(row, target, confirmed, published);
        }
        removeLeftovers(row, publisher, target, facts.major());
        requireNoSlot(catalog.slot(row.slotName(), facts.major()));
        List<PublishedTable> published = catalog.tables(options.publications(), facts.major());
        createTables(row, publisher, facts.major(), target, published);
        List<TableCopy> copies = plan(target, published);

        SubscriptionRow creating = state.transition(target, row, SlotState.CREATING);
        try (SlotCreation creation = new SlotCreation(connections.openReplication(), row.slotName())) {
            Created slot = create(creation, creating, publisher, target, facts.major());
            SnapshotHolder holder = SnapshotHolder.open(connections.openPublisher(), slot.snapshotName());
            requireSame(published, holder.tables(options.publications(), facts.major()));
            creation.close();
            return copy(creating, target, holder, slot.consistentPoint(), copies);
        }
    }

    private void createTables(
            SubscriptionRow row, Connection publisher, int major, Connection target, List<PublishedTable> published) {
        if (options.createTables() == CreateTables.MISSING) {
            List<QualifiedName> unused = new MissingTables(options, publisher, major, target)
                    .create(row.subid(), published, new SchemaSteps(SubscriptionStatus.STARTING, stats, ticker));
        }
    }

    /** What created tables get only now that their rows are there; also what a start that broke off has left to do. */
    private void completeTables(SubscriptionRow ready) {
        if (options.createTables() == CreateTables.NONE) {
            return;
        }
        Connection target = connections.openTarget();
        if (CreatedTables.read(target, ready.subid()).isEmpty()) {
            return;
        }
        Connection publisher = connections.openPublisher();
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        int major = catalog.facts().major();
        List<PublishedTable> published = catalog.tables(options.publications(), major);
        new MissingTables(options, publisher, major, target)
                .complete(
                        ready.subid(),
                        published,
                        published.stream().map(PublishedTable::name).toList(),
                        new SchemaSteps(SubscriptionStatus.COPYING, stats, ticker));
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
        return state.slotCreated(target, row, SlotState.READY, point, tables);
    }

    /** What an earlier try left: its slot, where the record says that it was ours to create, and the rows that it has copied. */
    private void removeLeftovers(SubscriptionRow row, Connection publisher, Connection target, int major) {
        if (row.slotState() != SlotState.CREATING && row.slotState() != SlotState.COPYING) {
            return;
        }
        log.info("subscription \"{}\": an earlier first start did not end, beginning again", row.name());
        new LeftoverSlot(connections.publisher(), row.name(), row.slotName()).remove(publisher, major);
        List<SubscriptionTable> copied = tableStates.tables(target, row.subid()).stream()
                .filter(table -> table.state() != TableSyncState.INIT)
                .toList();
        CopyOrigin.dropAll(target, row.subid());
        if (!copied.isEmpty()) {
            new TargetTables(target, describer)
                    .empty(copied.stream().map(SubscriptionTable::table).toList());
        }
    }

    private static void requireNoSlot(@Nullable ReplicationSlot slot) {
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

    /** Largest first, so that the last worker to end does not end long after the others. */
    private List<TableCopy> plan(Connection target, List<PublishedTable> published) {
        TargetTables tables = new TargetTables(target, describer);
        List<TableCopy> copies =
                new ArrayList<>(published.stream().map(tables::plan).toList());
        copies.sort(
                Comparator.comparingLong((TableCopy copy) -> copy.published().bytesEstimated())
                        .reversed());
        if (options.copyData()) {
            tables.requireEmpty(copies);
        }
        if (copies.isEmpty()) {
            log.warn("subscription \"{}\": its publications have no table", options.name());
        }
        return copies;
    }

    private Created create(
            SlotCreation creation, SubscriptionRow creating, Connection publisher, Connection target, int major) {
        try {
            return new SlotWait(options.name(), publisher, stats, options.slotCreateTimeout(), ticker)
                    .create(creation, major);
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
            SubscriptionRow creating, Connection target, SnapshotHolder holder, Lsn point, List<TableCopy> copies) {
        if (!options.copyData()) {
            List<PublishedTable> published =
                    copies.stream().map(TableCopy::published).toList();
            return beginWithoutCopy(creating, target, point, published);
        }
        SubscriptionRow copying = state.slotCreated(
                target,
                creating,
                SlotState.COPYING,
                point,
                copies.stream().map(copy -> SubscriptionTable.init(copy.name())).toList());
        stats.transition(
                SubscriptionStatus.COPYING,
                copies.size() + (copies.size() == 1 ? " table" : " tables") + " as of " + point);
        TableStates states = new TableStates(options.name(), copying.subid());
        states.load(target);
        SnapshotCopy snapshot =
                new SnapshotCopy(states, holder.snapshotName(), point, TableSyncState.SYNCDONE, stats, ticker);
        copies.forEach(copy -> snapshot.show(copy, TableSyncState.INIT, 0, 0, null));
        new CopyWorkers(connections, holder, target, ticker).copy(snapshot, copies, options.maxSyncWorkers());
        return state.transition(target, copying, SlotState.READY);
    }

    /** A slot that nobody reads keeps the publisher's WAL; and a wrong configuration should leave nothing behind. */
    private void giveSlotBack(SubscriptionRow row, ApplyException reason) {
        try (CopyConnections again = connections.again()) {
            Connection target = again.openTarget();
            SubscriptionRow now = state.find(target, row.name());
            if (now != null && (now.slotState() == SlotState.CREATING || now.slotState() == SlotState.COPYING)) {
                new LeftoverSlot(connections.publisher(), row.name(), row.slotName())
                        .dropIfInactive(again.openPublisher());
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
