package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.catalog.ControlSession;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.catalog.LockHolder;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.LockWaits;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresTarget;
import dev.pgapply.worker.origin.ProgressCommit;
import dev.pgapply.worker.origin.ReportedCommit;
import dev.pgapply.worker.parallel.SpoolOnlyTransactions;
import dev.pgapply.worker.preflight.Finding;
import dev.pgapply.worker.preflight.Preflight;
import dev.pgapply.worker.preflight.StreamFallback;
import dev.pgapply.worker.preflight.StreamStart;
import dev.pgapply.worker.preflight.StreamStartCheck;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import dev.pgapply.worker.tablesync.CopyConnections;
import dev.pgapply.worker.tablesync.InitialCopy;
import dev.pgapply.worker.tablesync.TableSync;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One life of a subscription (worker.c, ApplyWorkerMain): from becoming its owner to a stop or an error. Every life is a takeover, also
 * from an earlier life of the same engine: it fences off what that left behind, asks the target where it stands, and has the stream
 * sent from there.
 *
 * <pre>
 * find or create the subscription's row → own it (or stand by) → take over → first start: copy → stream
 * </pre>
 *
 * <p>{@link #run} is called once, on a thread that belongs to the life; {@link #stop} may be called from any other.
 */
public final class SubscriptionWorker {

    /** How a life ended without an error. */
    public enum End {
        STOPPED,
        /** The subscription's row says that it is disabled. */
        DISABLED
    }

    /** How often a standby tries to become the owner. */
    private static final Duration STANDBY_RETRY = Duration.ofSeconds(1);

    private final SubscriptionOptions options;
    private final SubscriptionCatalog catalog;
    private final Path spoolDirectory;
    private final SpoolOnlyTransactions spoolOnly;
    private final SubscriptionStats stats;
    private final StreamFallback fallback;
    private final Ticker ticker;
    private final Clock clock;
    private final PostgresConnections publisher;
    private final PostgresConnections target;
    private final CountDownLatch stopRequested = new CountDownLatch(1);

    private volatile @Nullable InitialCopy copy;
    private volatile @Nullable Streaming streaming;
    private volatile @Nullable Ownership ownership;
    private volatile @Nullable LockHolder holder;

    /**
     * @param spoolDirectory the subscription's own, for the streamed transactions' files; created when missing
     * @param spoolOnly the subscription's own, over all its lives in this process
     * @param fallback the subscription's own, over all its lives in this process
     */
    public SubscriptionWorker(
            SubscriptionOptions options,
            Path spoolDirectory,
            SpoolOnlyTransactions spoolOnly,
            SubscriptionCatalog catalog,
            SubscriptionStats stats,
            StreamFallback fallback,
            Ticker ticker,
            Clock clock) {
        this.options = options;
        this.spoolDirectory = spoolDirectory;
        this.spoolOnly = spoolOnly;
        this.catalog = catalog;
        this.stats = stats;
        this.fallback = fallback;
        this.ticker = ticker;
        this.clock = clock;
        this.publisher = new PostgresConnections(options.publisher());
        this.target = new PostgresConnections(options.target());
    }

    /**
     * Lives until {@link #stop}, or until the subscription turns out to be disabled.
     *
     * @throws ApplyException whatever else ended it; everything that the life had opened is closed
     */
    public End run() {
        Thread thread = Thread.currentThread();
        String callersName = thread.getName();
        thread.setName("leader-apply/" + options.name());
        try {
            return runNamed();
        } finally {
            thread.setName(callersName);
        }
    }

    private End runNamed() {
        stats.transition(SubscriptionStatus.STARTING, null);
        try (ControlSession control = ControlSession.open(catalog, target, options.name())) {
            SubscriptionRow row = findOrCreate(control);
            if (!row.enabled()) {
                return End.DISABLED;
            }
            control.requireSameTarget(row);
            return own(control, row.subid());
        }
    }

    /** Asks for an orderly end: what is complete is committed, the rest is rolled back. Returns at once. Any thread. */
    public void stop() {
        stopRequested.countDown();
        InitialCopy running = copy;
        if (running != null) {
            running.stop();
        }
        Streaming live = streaming;
        if (live != null) {
            live.stop();
        }
        Ownership owned = ownership;
        if (owned != null && live == null && running == null) {
            owned.close();
        }
    }

    /**
     * Takes up tables that were added to the publications, and lets go of those that have left. Any thread.
     *
     * @throws ApplyException of kind PRECONDITION if the subscription does not stream, or a refresh is not allowed now
     */
    public void refresh() {
        requireTableSync().refresh();
    }

    /**
     * Redoes a table's copy. Any thread.
     *
     * @throws ApplyException of kind PRECONDITION if the subscription does not stream, has no such table, or it is not allowed now
     */
    public void resync(QualifiedName table) {
        requireTableSync().resync(table);
    }

    private TableSync requireTableSync() {
        Streaming live = streaming;
        if (live == null) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "subscription \"" + options.name() + "\" does not stream now",
                    "try again when status shows it as streaming");
        }
        return live.tableSync();
    }

    /** Who owns the subscription while this engine stands by, else null. Any thread. */
    public @Nullable LockHolder holder() {
        return holder;
    }

    private boolean isStopping() {
        return stopRequested.getCount() == 0;
    }

    private String applicationName(String role) {
        return "pgapply " + options.name() + " " + role;
    }

    private SubscriptionRow findOrCreate(ControlSession control) {
        SubscriptionRow row = control.find();
        if (row != null) {
            control.migrate();
            return row;
        }
        requireReady();
        return control.create(options.slotName(), PublisherIdentity.of(publisher, options.name()));
    }

    /** Before anything is created on either side, all that {@code check} would find must be in order. */
    private void requireReady() {
        List<Finding> errors = Preflight.run(options).stream()
                .filter(finding -> finding.severity() == Finding.Severity.ERROR)
                .toList();
        if (errors.isEmpty()) {
            return;
        }
        Finding first = errors.get(0);
        throw new ApplyException(
                first.kind(),
                errors.stream().map(Finding::message).collect(Collectors.joining("; ")),
                errors.size() == 1 ? first.hint() : "pgapply check tells what to do about each",
                null,
                null,
                null);
    }

    private End own(ControlSession control, int subid) {
        try (Ownership owned = Ownership.open(target, applicationName("lock"), subid, this::cutTargetSessions)) {
            ownership = owned;
            if (!standBy(owned)) {
                return End.STOPPED;
            }
            EpochFence fence = owned.takeOver(this::showWaitingFor);
            control.enter(fence);
            SubscriptionRow row = control.find();
            if (row == null || row.subid() != subid) {
                throw new ApplyException(
                        Kind.OWNERSHIP_LOST, "subscription \"" + options.name() + "\" was dropped meanwhile");
            }
            if (!row.enabled()) {
                return End.DISABLED;
            }
            return live(control, row, owned, fence);
        } finally {
            ownership = null;
            holder = null;
        }
    }

    /** Waits until the subscription's lock is ours; false if a stop came first. */
    private boolean standBy(Ownership owned) {
        for (LockHolder other = owned.tryAcquire(); other != null; other = owned.tryAcquire()) {
            holder = other;
            stats.transition(SubscriptionStatus.STANDBY, other.toString());
            try {
                if (stopRequested.await(STANDBY_RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                    return false;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        holder = null;
        stats.transition(SubscriptionStatus.STARTING, null);
        return !isStopping();
    }

    private void showWaitingFor(List<LockHolder> sessions) {
        stats.transition(
                SubscriptionStatus.STARTING,
                "waiting for sessions of an earlier owner to end: "
                        + sessions.stream().map(LockHolder::toString).collect(Collectors.joining(", ")));
    }

    private End live(ControlSession control, SubscriptionRow row, Ownership owned, EpochFence fence) {
        try (PostgresTarget opened = new PostgresTarget(
                target,
                options.name(),
                options.synchronousCommit(),
                fence,
                (connection, pipeline, applySession) -> new ReportedCommit(
                        ProgressCommit.open(connection, pipeline, row.subid(), applySession, ticker), stats))) {
            if (row.slotState() != SlotState.READY || options.createTables() == CreateTables.MISSING) {
                copyTables(row, fence, opened);
            }
            if (isStopping()) {
                return End.STOPPED;
            }
            StreamStart start = new StreamStartCheck(options, publisher, stats, fallback).check(control, row);
            // What was prepared without its progress is sent again, and is not to be executed again.
            control.preparedTransactions(row).forEach(spoolOnly::add);
            try (SpoolDirectory spool = SpoolDirectory.open(spoolDirectory, row.subid(), options.spoolMaxBytes());
                    LockWaits lockWaits = new LockWaits(target, options.name());
                    Streaming live = Streaming.open(
                            options, start, fallback, publisher, target, opened, fence, lockWaits, owned, spool,
                            spoolOnly, stats, ticker, clock)) {
                streaming = live;
                if (!isStopping()) {
                    run(live, start);
                }
            } finally {
                streaming = null;
            }
            return End.STOPPED;
        }
    }

    private void run(Streaming live, StreamStart start) {
        try {
            live.run();
        } finally {
            if (live.isDecodingFailed()) {
                fallback.needWhole(start.publisherLsn());
            }
        }
    }

    private void copyTables(SubscriptionRow row, EpochFence fence, Target describer) {
        InitialCopy running = new InitialCopy(
                options,
                new CopyConnections(options.name(), publisher, target, fence),
                describer,
                catalog,
                stats,
                ticker);
        copy = running;
        try {
            if (!isStopping()) {
                SubscriptionRow unused = running.run(row);
            }
        } catch (ApplyException e) {
            if (!isStopping()) {
                throw e;
            }
        } finally {
            copy = null;
        }
    }

    /** Another engine has taken over: nothing of this one may reach the target any more. */
    private void cutTargetSessions() {
        InitialCopy running = copy;
        if (running != null) {
            running.stop();
        }
        Streaming live = streaming;
        if (live != null) {
            live.cut();
        }
    }
}
