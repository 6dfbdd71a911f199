package dev.pgapply.launcher;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.launcher.cli.EngineRunner;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.config.LauncherConfig;
import dev.pgapply.launcher.config.StateDirectory;
import dev.pgapply.launcher.console.ProgressDisplay;
import dev.pgapply.launcher.console.Terminal;
import dev.pgapply.launcher.metrics.SubscriptionMetrics;
import dev.pgapply.launcher.rest.RestServer;
import dev.pgapply.launcher.supervise.ApplyLauncher;
import dev.pgapply.launcher.supervise.SubscriptionSupervisor;
import dev.pgapply.launcher.supervise.SupervisionTools;
import dev.pgapply.launcher.supervise.Worker;
import dev.pgapply.worker.catalog.CatalogEnabledRecord;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.leader.SubscriptionWorker;
import dev.pgapply.worker.parallel.SpoolOnlyTransactions;
import dev.pgapply.worker.preflight.StreamFallback;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.Ticker;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running process: HTTP's port first, because one that is taken must end it before anything is touched, then the subscriptions. Ends as
 * its {@link Ending} says, in order and within 8 s.
 */
final class Engine implements EngineRunner {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    /** Of the 8 s, one is for the JVM. */
    private static final Duration STOP_WITHIN = Duration.ofSeconds(7);

    private final Clock clock = Clock.systemUTC();
    private final Ticker ticker = System::nanoTime;
    private final SecureRandom random = new SecureRandom();
    private final SubscriptionCatalog catalog = new SubscriptionCatalog(random);
    private final Terminal terminal;
    private final Ending ending;

    Engine(Terminal terminal, Ending ending) {
        this.terminal = terminal;
        this.ending = ending;
    }

    @Override
    public void run(LauncherConfig config, StateDirectory state, Consumer<HttpAddress> started) {
        ApplyLauncher launcher = new ApplyLauncher(config.subscriptions().stream()
                .map(options -> supervisor(options, state.folder(options.name())))
                .toList());
        List<SubscriptionStats> statistics = launcher.supervisors().stream()
                .map(SubscriptionSupervisor::stats)
                .toList();
        SubscriptionMetrics metrics = new SubscriptionMetrics(statistics);
        RestServer rest = new RestServer(launcher, metrics::scrape, config.httpToken());
        HttpAddress bound = rest.bind(config.httpAddress());
        log.info("listening on http://{}, state directory {}", bound, state.path());
        ProgressDisplay progress = new ProgressDisplay(statistics, terminal, ticker);
        ending.prepare(() -> stop(launcher, progress));
        launcher.start();
        try {
            // Beside the subscriptions' start: either takes as long as the other.
            rest.serve();
        } catch (RuntimeException e) {
            stop(launcher, progress);
            throw e;
        }
        progress.start();
        started.accept(bound);
        ending.await();
        rest.close();
    }

    private static void stop(ApplyLauncher launcher, ProgressDisplay progress) {
        log.info("stopping");
        progress.close();
        launcher.stop(STOP_WITHIN);
        log.info("stopped");
    }

    /** @param folder the subscription's own, for its spool */
    private SubscriptionSupervisor supervisor(SubscriptionOptions options, Path folder) {
        SubscriptionStats stats = new SubscriptionStats(options.name(), clock);
        StreamFallback fallback = new StreamFallback();
        SpoolOnlyTransactions spoolOnly = new SpoolOnlyTransactions();
        return new SubscriptionSupervisor(
                options,
                stats,
                () -> worker(options, folder, spoolOnly, stats, fallback),
                new CatalogEnabledRecord(new PostgresConnections(options.target()), catalog, options.name()),
                new SupervisionTools(clock, ticker, random));
    }

    private Worker worker(
            SubscriptionOptions options,
            Path folder,
            SpoolOnlyTransactions spoolOnly,
            SubscriptionStats stats,
            StreamFallback fallback) {
        SubscriptionWorker life =
                new SubscriptionWorker(options, folder, spoolOnly, catalog, stats, fallback, ticker, clock);
        return new Worker() {
            @Override
            public void run() {
                SubscriptionWorker.End end = life.run();
                log.debug("subscription \"{}\": a life ended: {}", options.name(), end);
            }

            @Override
            public void stop() {
                life.stop();
            }

            @Override
            public void refresh() {
                life.refresh();
            }

            @Override
            public void resync(QualifiedName table) {
                life.resync(table);
            }
        };
    }
}
