package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.EnabledRecord;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Keeps one subscription alive: runs its worker, and after each life does what the failure's remedy says. {@link #run} is the
 * supervising thread; it alone starts workers and decides what is disabled. {@link #enable}, {@link #disable} and {@link #stop} come
 * from other threads as requests and end a wait or the worker's life.
 *
 * <pre>
 *            ┌──────────── wait ◄──── failure: RECONNECT, RETRY_OR_DISABLE, STOP
 *            ▼                          ▲
 * read the record ──► worker's life ────┤
 *   ▲        │                          ▼
 *   │        └──► disabled ◄── disable, disable_on_error, found disabled in the target
 *   └─ enable ◄───────┘
 * </pre>
 */
public final class SubscriptionSupervisor {

    private static final Logger log = LoggerFactory.getLogger(SubscriptionSupervisor.class);

    /** A disabled subscription looks so often whether somebody else has enabled it, or whether the target takes the record now. */
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);

    /** A life so long counts as progress, even if nothing was to be done. */
    private static final Duration LONG_LIFE = Duration.ofSeconds(60);

    private static final String BY_OPERATOR = "disabled by an operator";

    private final SubscriptionOptions options;
    private final SubscriptionStats stats;
    private final Worker.Factory workers;
    private final EnabledRecord enabledRecord;
    private final SupervisionTools tools;
    private final RetryWaits waits;
    private final ErrorReport report;
    private final Requests requests;

    /** Why it is disabled; null while it is not. Written by the supervising thread. */
    private volatile @Nullable String disabledReason;

    /** Whether the target does not know yet that it is disabled. */
    private boolean recordPending;

    private long knownSyncTableErrors;

    public SubscriptionSupervisor(
            SubscriptionOptions options,
            SubscriptionStats stats,
            Worker.Factory workers,
            EnabledRecord enabledRecord,
            SupervisionTools tools) {
        this.options = options;
        this.stats = stats;
        this.workers = workers;
        this.enabledRecord = enabledRecord;
        this.tools = tools;
        this.waits = new RetryWaits(tools.random());
        this.report = new ErrorReport(stats, tools.clock());
        this.requests = new Requests(options.name(), tools.pause());
        if (!options.enabled()) {
            disabledReason = "enabled: false in the configuration";
            stats.transition(SubscriptionStatus.DISABLED, disabledReason);
        }
    }

    public SubscriptionOptions options() {
        return options;
    }

    public SubscriptionStats stats() {
        return stats;
    }

    public boolean isEnabled() {
        return disabledReason == null;
    }

    /** The supervising thread's life; returns after {@link #stop}. */
    public void run() {
        MDC.put("subscription", options.name());
        while (!requests.isStopping()) {
            try {
                step();
            } catch (ApplyException e) {
                failed(e);
            } catch (Exception | LinkageError | OutOfMemoryError | StackOverflowError | AssertionError e) {
                failed(new ApplyException(Kind.INTERNAL, "unexpected failure: " + e, e));
            }
        }
        requests.refuseAll();
        stats.transition(SubscriptionStatus.STOPPING, null);
    }

    private void step() {
        if (!options.enabled()) {
            tools.pause().await(Duration.ofDays(1));
            return;
        }
        Requests.Request request = requests.next();
        if (request != null) {
            handle(request);
        } else if (disabledReason != null) {
            stayDisabled();
        } else {
            live();
        }
    }

    private void live() {
        EnabledRecord.State state = enabledRecord.read();
        if (!state.enabled()) {
            becomeDisabled(state.reason() == null ? BY_OPERATOR : state.reason());
            return;
        }
        Worker worker = requests.beginLife(workers);
        if (worker == null) {
            return;
        }
        long transactions = stats.transactions.sum();
        Lsn flushLsn = stats.flushLsn();
        long start = tools.ticker().nanos();
        try {
            worker.run();
        } finally {
            requests.endLife();
            boolean longLife = Duration.ofNanos(tools.ticker().nanos() - start).compareTo(LONG_LIFE) >= 0;
            if (longLife
                    || stats.transactions.sum() != transactions
                    || !stats.flushLsn().equals(flushLsn)) {
                waits.reset();
            }
        }
        if (!requests.isAsked() && enabledRecord.read().enabled()) {
            throw new ApplyException(Kind.TRANSIENT, "the worker ended although nobody asked for it");
        }
    }

    private void failed(ApplyException failure) {
        if (requests.isStopping()) {
            log.debug("a failure while stopping", failure);
            return;
        }
        report.report(failure);
        Duration wait = waits.after(failure);
        switch (failure.kind().remedy()) {
            case RECONNECT -> stats.transition(SubscriptionStatus.RECONNECTING, failure.getMessage());
            case RETRY_OR_DISABLE -> {
                countError();
                if (options.disableOnError()) {
                    // worker.c, DisableSubscriptionAndExit
                    log.error("subscription \"{}\" has been disabled because of an error", options.name());
                    becomeDisabled("because of an error: " + failure.getMessage());
                    recordPending = true;
                    return;
                }
                stats.transition(SubscriptionStatus.ERROR, failure.getMessage());
            }
            case STOP, REFUSE -> stats.transition(SubscriptionStatus.ERROR, failure.getMessage());
        }
        if (!requests.isAsked()) {
            tools.pause().await(wait);
        }
        stats.retries.increment();
    }

    /** As in pg_stat_subscription_stats, an error of a table's copy is no apply error: it was counted where it happened. */
    private void countError() {
        long syncTableErrors = stats.syncTableErrors.sum();
        if (syncTableErrors == knownSyncTableErrors) {
            stats.applyErrors.increment();
        }
        knownSyncTableErrors = syncTableErrors;
    }

    private void becomeDisabled(String reason) {
        disabledReason = reason;
        stats.transition(SubscriptionStatus.DISABLED, reason);
    }

    private void becomeEnabled(String reason) {
        disabledReason = null;
        waits.reset();
        stats.transition(SubscriptionStatus.STARTING, reason);
    }

    /** Everything is given back already; what is left is to get it recorded, and to see it enabled by somebody else. */
    private void stayDisabled() {
        try {
            if (recordPending) {
                recordPending = !enabledRecord.store(String.valueOf(disabledReason));
            } else {
                EnabledRecord.State state = enabledRecord.read();
                if (state.enabled()) {
                    becomeEnabled("enabled in the target");
                    return;
                }
            }
        } catch (ApplyException e) {
            log.debug("the target cannot be asked for the disabled subscription", e);
        }
        if (!requests.isAsked()) {
            tools.pause().await(LOOK_AGAIN);
        }
    }

    private void handle(Requests.Request request) {
        try {
            if (request.enable() && disabledReason != null) {
                enabledRecord.store(null);
                recordPending = false;
                becomeEnabled("enabled by an operator");
            } else if (!request.enable() && disabledReason == null) {
                becomeDisabled(BY_OPERATOR);
                recordPending = !request.recorded();
            }
            request.done().complete(null);
        } catch (ApplyException e) {
            request.done().completeExceptionally(e);
        }
    }

    /**
     * Enables the subscription, across restarts; when this returns it is starting.
     *
     * @throws Refusal if the configuration says {@code enabled: false}, or another engine has the subscription
     * @throws ApplyException if it could not be recorded in the target: it stays disabled
     */
    public void enable() {
        if (!options.enabled()) {
            throw new Refusal(
                    "subscription \"" + options.name() + "\" is disabled in the configuration",
                    "remove enabled: false from the configuration and restart");
        }
        refuseOnStandby();
        if (!isEnabled()) {
            requests.ask(true, false);
        }
    }

    /**
     * Disables the subscription, across restarts; when this returns slot and lock are given back. It is recorded before they are: an engine
     * that stands by takes over at once, and must find it.
     *
     * @throws Refusal if another engine has the subscription
     * @throws ApplyException if it could not be recorded in the target: it is disabled in this process, and recorded when possible
     */
    public void disable() {
        refuseOnStandby();
        if (!isEnabled()) {
            return;
        }
        boolean recorded = false;
        ApplyException failure = null;
        try {
            recorded = enabledRecord.store(BY_OPERATOR);
        } catch (ApplyException e) {
            failure = e;
        }
        requests.ask(false, recorded);
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Takes up tables that were added to the publications, and lets go of those that have left; when this returns that is recorded, and new
     * tables are copied from then on.
     *
     * @throws Refusal if the subscription does not stream, another engine has it, or it is not allowed now
     */
    public void refresh() {
        onWorker(Worker::refresh);
    }

    /**
     * Has a table emptied and copied again; when this returns that is recorded.
     *
     * @throws Refusal if the subscription does not stream or has no such table, another engine has it, or it is not allowed now
     */
    public void resync(QualifiedName table) {
        onWorker(worker -> worker.resync(table));
    }

    private void onWorker(Consumer<Worker> command) {
        refuseOnStandby();
        Worker worker = requests.living();
        if (worker == null) {
            throw new Refusal(
                    "subscription \"" + options.name() + "\" does not stream now, it is "
                            + stats.status().label(),
                    isEnabled() ? "try again when status shows it as streaming" : "enable it first");
        }
        try {
            command.accept(worker);
        } catch (ApplyException e) {
            if (e.kind() == Kind.PRECONDITION) {
                throw new Refusal(e.getMessage(), String.valueOf(e.hint()));
            }
            throw e;
        }
    }

    private void refuseOnStandby() {
        if (stats.status() == SubscriptionStatus.STANDBY) {
            String holder = stats.statusReason();
            throw new Refusal(
                    "subscription \"" + options.name() + "\" is held by another engine"
                            + (holder == null ? "" : ": " + holder),
                    "send the command to that engine");
        }
    }

    /** Asks the supervising thread to end its worker and itself; returns at once. */
    public void stop() {
        requests.stop();
    }
}
