package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import dev.pgapply.it.support.Workload;
import java.time.Duration;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** {@code kill -9} at any moment under load, of the engine and of the target: exactly once, never torn; and case F02. */
class KillIT {

    private static final int WRITERS = 4;
    private static final int LARGE = 2_000;

    @Test
    void everything_is_equal_after_each_kill_of_the_engine() {
        try (PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start();
                Scenario scenario = Scenario.of(
                                DatabasePair.on(SharedServers.publisher(RunOptions.publisherVersion()), target))
                        .ownProcess()) {
            rounds(scenario, RunOptions.number(3, 20), round -> {
                scenario.engine().killNine();
                scenario.engine().start();
            });
        }
    }

    @Test
    void everything_is_equal_after_each_kill_of_the_target() {
        try (PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start();
                Scenario scenario =
                        Scenario.of(DatabasePair.on(SharedServers.publisher(RunOptions.publisherVersion()), target))) {
            rounds(scenario, RunOptions.number(3, 20), round -> {
                target.killNine();
                target.start();
            });
        }
    }

    private static void rounds(Scenario scenario, int rounds, Consumer<Integer> kill) {
        long seed = RunOptions.seed();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Workload.prepare(scenario.pair());
        try (TornReadPoller poller = TornReadPoller.start(scenario.target(), Workload.LEDGER_TOTAL, "0")) {
            scenario.start();
            for (int round = 0; round < rounds; round++) {
                try (Workload workload = Workload.start(scenario.publisher(), WRITERS, seed + 100L * round, LARGE)) {
                    workload.awaitTransactions(20 + random.nextInt(200));
                    kill.accept(round);
                    workload.awaitTransactions(50);
                }
                scenario.assertSame(Workload.names());
                poller.assertNeverTorn();
            }
            assertThat(scenario.target().number("SELECT sum(balance) FROM account"))
                    .isEqualTo(100_000);
        }
    }

    @Test
    void f02_counters_and_logs_survive_kills_of_engine_and_target() {
        long seed = RunOptions.seed();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Duration length = RunOptions.duration(Duration.ofSeconds(12), Duration.ofMinutes(10));
        try (PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start();
                Scenario scenario = Scenario.of(
                                DatabasePair.on(SharedServers.publisher(RunOptions.publisherVersion()), target))
                        .ownProcess()) {
            CounterWriters.prepare(scenario.pair());
            String consistent = "SELECT (SELECT coalesce(sum(n), 0) FROM f02cnt) = (SELECT count(*) FROM f02)"
                    + " AND (SELECT count(*) FROM f02) = (SELECT count(*) FROM f02log)";
            scenario.start();
            try (TornReadPoller poller = TornReadPoller.start(scenario.target(), consistent, "t");
                    CounterWriters writers =
                            CounterWriters.start(scenario.publisher(), RunOptions.number(3, 8), seed)) {
                long end = System.nanoTime() + length.toNanos();
                for (int kill = 1; System.nanoTime() < end; kill++) {
                    long pause = RunOptions.longRun() ? 2_000 + random.nextInt(13_000) : 1_000 + random.nextInt(3_000);
                    awaitPassed(Duration.ofMillis(pause));
                    scenario.engine().killNine();
                    if (kill % 3 == 0) {
                        target.restart(ShutdownMode.IMMEDIATE);
                    }
                    scenario.engine().start();
                }
                writers.close();

                scenario.awaitCaughtUp();
                TableComparison.of(scenario.pair()).assertSame("f02", "f02log", "f02cnt");
                poller.assertNeverTorn();
            }
        }
    }

    private static void awaitPassed(Duration duration) {
        long start = System.nanoTime();
        Wait.until("time to pass", duration.plusSeconds(30), () -> System.nanoTime() - start >= duration.toNanos());
    }
}
