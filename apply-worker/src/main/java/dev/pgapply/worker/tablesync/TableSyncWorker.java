package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.worker.apply.HeldReplay;
import dev.pgapply.worker.apply.OpenRelations;
import dev.pgapply.worker.apply.TableHold;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.jdbc.PostgresTarget;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.ReplicationSlots;
import dev.pgapply.worker.publisher.SlotCreation;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Synchronises one table beside the stream (tablesync.c, LogicalRepSyncTableStart): one attempt, on a thread of its own named
 * {@code tablesync/<subscription>/<table>}. {@link #stop} may come from any thread.
 *
 * <pre>
 * leader holds the table → d → emptied → temporary slot exports a snapshot at Y → slot dropped → rows copied, f at Y
 *     → what was held back is replayed, from Y on → leader stands still → the last of it → s → leader takes the table
 * </pre>
 *
 * <p>The hold comes before the snapshot, so each transaction is in the copy or held back, or both: those before Y are skipped in the replay.
 * State s is committed while the leader stands still and after everything that it has dispatched; so whatever survives a crash of the target, a
 * table in s has exactly the changes up to the subscription's progress. Where it breaks off before, the next attempt begins again.
 */
final class TableSyncWorker implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(TableSyncWorker.class);

    /** So little the leader may be made to wait for at once. */
    private static final long SMALL_REST_BYTES = 64 * 1024;

    /** So often the replay may fail to come near the end before the leader has to wait for more. */
    private static final int ROUNDS_BEFORE_PATIENCE = 5;

    private static final Duration FIRST_PATIENCE = Duration.ofSeconds(2);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(60);

    private final TableSyncContext context;
    private final TableStates states;
    private final QualifiedName table;
    private final int sessions;
    private final CopyConnections connections;

    /** For the session that outlasts the copy: it records what becomes of the table. */
    private final CopyConnections recording;

    private final TableHold hold;
    private final Thread thread;

    private volatile boolean stopping;
    private volatile boolean done;
    private volatile @Nullable ApplyException failure;
    private volatile boolean unpublished;
    private volatile @Nullable TargetSession replaying;
    private boolean counted;

    private TableSyncWorker(TableSyncContext context, TableStates states, QualifiedName table, int sessions) {
        this.context = context;
        this.states = states;
        this.table = table;
        this.sessions = sessions;
        this.connections = context.connections();
        this.recording = context.connections();
        this.hold = new TableHold(context.holds(), table, () -> stopping);
        this.thread = new Thread(this, "tablesync/" + context.options().name() + "/" + table);
    }

    /** @param sessions how many may copy a large table's parts at a time */
    static TableSyncWorker start(TableSyncContext context, TableStates states, QualifiedName table, int sessions) {
        TableSyncWorker worker = new TableSyncWorker(context, states, table, sessions);
        worker.thread.setDaemon(true);
        worker.thread.start();
        return worker;
    }

    /** Whether the attempt has come to its end, one way or the other. */
    boolean isDone() {
        return done;
    }

    /** Why the table could not be synchronised; null if it was, or before the end. */
    @Nullable
    ApplyException failure() {
        return failure;
    }

    /** Whether it failed because the publications do not send a table of that name. */
    boolean isUnpublished() {
        return unpublished;
    }

    /** Why the leader could not go on holding the changes back, or null. */
    @Nullable
    ApplyException holdFailure() {
        return hold.failure();
    }

    /** Ends the attempt within about two seconds; nothing of it is left on the publisher. */
    void stop() {
        stopping = true;
        connections.close();
        recording.close();
        TargetSession open = replaying;
        if (open != null) {
            open.abort();
        }
    }

    void join(Duration atMost) throws InterruptedException {
        thread.join(atMost.toMillis());
    }

    @Override
    public void run() {
        MDC.put("subscription", context.options().name());
        context.pace().begin();
        try {
            hold.begin();
            synchronise();
        } catch (ApplyException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            failure = new ApplyException(Kind.INTERNAL, "the table's synchronisation failed: " + e, e);
        } finally {
            context.pace().end();
            connections.close();
            recording.close();
            ApplyException failed = failure;
            if (failed != null) {
                hold.giveUp();
                ApplyException heldBack = hold.failure();
                if (heldBack != null) {
                    failure = heldBack;
                }
                if (!counted && !stopping) {
                    context.stats().syncTableErrors.increment();
                }
            }
            done = true;
        }
    }

    private void synchronise() {
        Connection recorder = recording.openTarget();
        try (PostgresTarget target = context.replayTarget()) {
            Lsn syncLsn = copy(recorder, target);
            connections.finish();
            replay(syncLsn, target, recorder);
            recording.finish();
        }
    }

    private void replay(Lsn syncLsn, PostgresTarget target, Connection recorder) {
        try (TargetSession session = target.openSession("tablesync")) {
            replaying = session;
            if (stopping) {
                throw new ApplyException(Kind.TRANSIENT, "the table's copy is being stopped");
            }
            SubscriptionStats rows = new SubscriptionStats(context.options().name(), context.clock());
            OpenRelations relations = new OpenRelations(target, context.ticker(), context.opened());
            HeldReplay replay = new HeldReplay(
                    table, syncLsn, context.originName(), context.options().batch(), session, relations, rows);
            catchUp(replay, syncLsn, recorder);
            count(rows);
        } finally {
            replaying = null;
        }
    }

    /**
     * Copies the rows under a snapshot of its own; when this returns they are committed, and the table is in state f.
     *
     * @param target records it
     * @param describer of the target's tables
     */
    private Lsn copy(Connection target, PostgresTarget describer) {
        Connection publisher = connections.openPublisher();
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        int major = catalog.facts().major();
        TargetTables targets = context.tables(target, describer);
        PublishedTable published = published(catalog, major);
        AddedTableCreation creating = new AddedTableCreation(context, publisher, major, target);
        creating.create(published);
        TableCopy copy = targets.plan(published);
        prepare(targets, copy, target);
        String slotName = slotName(copy);
        try (SlotCreation creation = SlotCreation.temporary(connections.openReplication(), slotName)) {
            SlotCreation.Created slot = new SlotWait(
                            context.options(), slotName, table, publisher, context.stats(), context.ticker())
                    .create(creation, major);
            SnapshotHolder holder = SnapshotHolder.open(publisher, slot.snapshotName());
            creation.close();
            requireSame(copy.published(), holder, major);
            Publishing publishing = holder.publishing(
                            List.of(copy.published()), context.options().publications(), major)
                    .get(table);
            if (publishing != null) {
                new TableCatalog().setPublishing(target, context.subid(), table, publishing);
            }
            SnapshotCopy snapshot = new SnapshotCopy(
                    states,
                    holder.snapshotName(),
                    slot.consistentPoint(),
                    TableSyncState.FINISHEDCOPY,
                    context.pace(),
                    context.stats(),
                    context.ticker());
            counted = true;
            new CopyWorkers(connections, holder, target, context.ticker())
                    .copy(snapshot, List.of(copy), sessions, (failed, reason) -> {
                        throw reason;
                    });
            counted = false;
            holder.end();
            creating.addIndexes(table);
            return slot.consistentPoint();
        }
    }

    /** The table's definition is read before the snapshot and inside it: if both are the same, so it was at the consistent point. */
    private void requireSame(PublishedTable before, SnapshotHolder holder, int major) {
        PublishedTable after = find(holder.tables(context.options().publications(), major));
        if (after == null || !after.withoutEstimates().equals(before.withoutEstimates())) {
            throw new ApplyException(
                    Kind.TRANSIENT, "the table was altered while its snapshot was made, the copy begins again");
        }
    }

    private @Nullable PublishedTable find(List<PublishedTable> all) {
        for (PublishedTable published : all) {
            if (published.name().equals(table)) {
                return published;
            }
        }
        return null;
    }

    private PublishedTable published(PublisherCatalog catalog, int major) {
        catalog.requirePublications(context.options().publications());
        PublishedTable published = find(catalog.tables(context.options().publications(), major));
        if (published != null) {
            return published;
        }
        unpublished = true;
        throw ApplyException.withHint(
                Kind.PRECONDITION,
                "table \"" + table
                        + "\" is not published any more: it was dropped, renamed or taken out of the publications",
                "refresh the subscription, and the table leaves it");
    }

    /** A table that was never begun must be empty; whatever a begun one holds is of the copy to be redone. */
    private void prepare(TargetTables targets, TableCopy copy, Connection target) {
        SubscriptionTable known = states.find(table);
        if (known == null || known.state() == TableSyncState.INIT) {
            requireEmpty(copy, target);
            states.record(target, new SubscriptionTable(table, TableSyncState.DATASYNC, null, 0, 0, null));
            return;
        }
        targets.empty(List.of(copy.target().name()));
    }

    private void requireEmpty(TableCopy copy, Connection target) {
        String rows = TargetTables.describeRows(target, copy.target());
        if (!rows.isEmpty()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "target is not empty: table \"" + copy.target().name() + "\" has " + rows,
                    "empty it (TRUNCATE), and it is copied within a minute, or resync the table, which empties it");
        }
    }

    /** Unique on the publisher's server: the oid could be that of a table in another database. */
    private String slotName(TableCopy copy) {
        return ReplicationSlots.temporaryPrefix(context.subid())
                + copy.published().oid();
    }

    private void catchUp(HeldReplay replay, Lsn syncLsn, Connection connection) {
        Duration patience = FIRST_PATIENCE;
        for (int round = 1; ; round++) {
            SpooledChanges held = hold.contents();
            boolean near = held.length() - replay.position() <= SMALL_REST_BYTES;
            replay.apply(held, () -> stopping);
            if (!near && round <= ROUNDS_BEFORE_PATIENCE) {
                continue;
            }
            if (hold.handOver(
                    syncLsn,
                    patience,
                    rest -> replay.apply(rest, () -> stopping),
                    () -> recordDone(connection, syncLsn))) {
                return;
            }
            patience = patience.multipliedBy(2);
            if (patience.compareTo(LONGEST_PATIENCE) > 0) {
                patience = LONGEST_PATIENCE;
            }
        }
    }

    private void recordDone(Connection connection, Lsn syncLsn) {
        SubscriptionTable known = states.find(table);
        if (known == null) {
            throw new IllegalStateException("table " + table + " is not known");
        }
        SubscriptionTable synchronised = new SubscriptionTable(
                table, TableSyncState.SYNCDONE, syncLsn, known.rowsCopied(), known.bytesCopied(), null);
        states.record(connection, synchronised);
        context.stats().setTable(synchronised.progress());
        log.info(
                "subscription \"{}\": table \"{}\" is synchronised as of {}, its changes are taken from the stream",
                context.options().name(),
                table,
                syncLsn);
    }

    /** The replayed transactions were counted by the leader, which saw them without these rows. */
    private void count(SubscriptionStats rows) {
        SubscriptionStats stats = context.stats();
        stats.inserts.add(rows.inserts.sum());
        stats.updates.add(rows.updates.sum());
        stats.deletes.add(rows.deletes.sum());
        stats.truncates.add(rows.truncates.sum());
        stats.batches.add(rows.batches.sum());
        stats.batchRows.add(rows.batchRows.sum());
        stats.exactFallbacks.add(rows.exactFallbacks.sum());
        for (ConflictType type : ConflictType.values()) {
            stats.conflicts(type).add(rows.conflicts(type).sum());
        }
    }
}
