package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A walsender that must not time out whatever the target does: case F01. The publisher's wal_sender_timeout is 3 s. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FaultsIT {

    private PostgresServer publisher;

    @BeforeAll
    void startPublisher() {
        publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                .setting("wal_sender_timeout", "3s")
                .start();
    }

    @AfterAll
    void endPublisher() {
        publisher.close();
    }

    private Scenario scenario(PostgresServer target) {
        Scenario scenario = Scenario.of(DatabasePair.on(publisher, target));
        scenario.onBoth("CREATE TABLE f01(id int PRIMARY KEY, v text)").publish("f01");
        return scenario;
    }

    /** What must stay the same. */
    private static List<String> walsender(Scenario scenario) {
        return scenario.publisher()
                .column("SELECT pid || ' ' || backend_start FROM pg_stat_replication WHERE application_name = "
                        + Database.literal(scenario.slot()));
    }

    private void assertUnchanged(Scenario scenario, List<String> walsender) {
        assertThat(walsender(scenario)).isEqualTo(walsender).hasSize(1);
        assertThat(publisher.log()).doesNotContain("replication timeout");
    }

    @Test
    void f01_a_a_locked_target_table_does_not_cost_the_walsender() throws SQLException {
        Duration locked = RunOptions.duration(Duration.ofSeconds(7), Duration.ofSeconds(30));
        try (Scenario scenario = scenario(SharedServers.target(RunOptions.targetVersion()))) {
            scenario.start();
            List<String> walsender = walsender(scenario);
            try (Connection blocker = scenario.target().connect();
                    Statement statement = blocker.createStatement()) {
                blocker.setAutoCommit(false);
                statement.execute("LOCK TABLE f01");
                scenario.publisher().execute("INSERT INTO f01 SELECT g, 'v' FROM generate_series(1, 1000) g");
                awaitPassed(locked);
                blocker.rollback();
            }

            scenario.assertSame("f01");
            assertUnchanged(scenario, walsender);
        }
    }

    @Test
    void f01_b_a_large_transaction_into_a_slow_table_does_not_cost_the_walsender() {
        int rows = RunOptions.number(8_000, 500_000);
        try (Scenario scenario = scenario(SharedServers.target(RunOptions.targetVersion()))) {
            scenario.target()
                    .execute(
                            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                                    + " $$BEGIN PERFORM pg_catalog.pg_sleep(0.0001); RETURN NEW; END$$",
                            "CREATE TRIGGER slow BEFORE INSERT ON f01 FOR EACH ROW EXECUTE FUNCTION slow()",
                            "ALTER TABLE f01 ENABLE REPLICA TRIGGER slow");
            scenario.start();
            List<String> walsender = walsender(scenario);

            scenario.publisher().execute("INSERT INTO f01 SELECT g, 'v' FROM generate_series(1, " + rows + ") g");

            scenario.assertSame("f01");
            assertUnchanged(scenario, walsender);
        }
    }

    @Test
    void f01_c_a_frozen_target_does_not_cost_the_walsender() {
        Duration frozen = RunOptions.duration(Duration.ofSeconds(7), Duration.ofSeconds(15));
        try (PostgresServer target =
                        PostgresServer.target(RunOptions.targetVersion()).start();
                Scenario scenario = scenario(target)) {
            scenario.start();
            List<String> walsender = walsender(scenario);

            target.pause();
            scenario.publisher().execute("INSERT INTO f01 SELECT g, 'v' FROM generate_series(1, 1000) g");
            awaitPassed(frozen);
            target.resume();

            scenario.assertSame("f01");
            assertUnchanged(scenario, walsender);
        }
    }

    @Test
    void f01_d_without_wal_sender_timeout_a_status_is_still_sent() {
        try (Scenario scenario = scenario(SharedServers.target(RunOptions.targetVersion()))) {
            scenario.publisher()
                    .execute("ALTER DATABASE "
                            + Database.quote(scenario.publisher().name()) + " SET wal_sender_timeout = 0");
            Duration interval = RunOptions.duration(Duration.ofSeconds(1), Duration.ofSeconds(10));
            scenario.option("wal_receiver_status_interval", interval.toSeconds() + "s");
            scenario.start();
            String reply = "SELECT reply_time FROM pg_stat_replication WHERE application_name = "
                    + Database.literal(scenario.slot());
            for (int i = 0; i < 3; i++) {
                String last = scenario.publisher().value(reply);
                Wait.until(
                        "the next status",
                        interval.plusSeconds(2),
                        () -> !String.valueOf(last).equals(scenario.publisher().value(reply)));
            }
        }
    }

    /** The fault's own length: the passing of time is what the case asks for. */
    private static void awaitPassed(Duration duration) {
        long start = System.nanoTime();
        Wait.until("time to pass", duration.plusSeconds(30), () -> System.nanoTime() - start >= duration.toNanos());
    }
}
