package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Workload;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One scenario on each version: check, copy, stream, kill, restart, drop. */
class SmokeIT {

    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void a_target_follows_a_publisher_of_its_own_version_through_copy_kill_and_restart(int version) {
        long seed = RunOptions.seed();
        System.out.println("seed " + seed);
        try (PostgresServer publisher = PostgresServer.publisher(version).start();
                PostgresServer target = PostgresServer.target(version).start();
                Scenario scenario =
                        Scenario.of(DatabasePair.on(publisher, target)).ownProcess()) {
            Workload.prepare(scenario.pair());
            EngineCommand check = EngineCommand.check(scenario.config());
            assertThat(check.exit()).as(check.output()).isZero();
            try (Workload workload = Workload.start(scenario.publisher(), 2, seed, 1_000)) {
                workload.awaitTransactions(100);
                scenario.start();
                try (TornReadPoller poller = TornReadPoller.start(scenario.target(), Workload.LEDGER_TOTAL, "0")) {
                    workload.awaitTransactions(100);
                    scenario.engine().killNine();
                    scenario.engine().start();
                    workload.awaitTransactions(50);
                    workload.close();
                    scenario.assertSame(Workload.names());
                    poller.assertNeverTorn();
                }
            }
            assertThat(scenario.engine()
                            .rest()
                            .subscription(scenario.slot(), "origin")
                            .path("native")
                            .asBoolean())
                    .isTrue();
            scenario.stop();
            dropIt(scenario);
        }
    }

    private static void dropIt(Scenario scenario) {
        EngineCommand drop = EngineCommand.run(
                "drop", "-c", scenario.engine().config().file().toString(), scenario.slot());

        assertThat(drop.exit()).as(drop.output()).isZero();
        assertThat(scenario.publisher().number("SELECT count(*) FROM pg_replication_slots"))
                .isZero();
        assertThat(scenario.target().number("SELECT count(*) FROM pg_replication_origin"))
                .isZero();
        assertThat(scenario.target().number("SELECT count(*) FROM pgapply.subscription"))
                .isZero();
    }
}
