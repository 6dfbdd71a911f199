package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.Wait;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Transactions and positions: case X05. */
class TransactionsIT {

    @Test
    void x05_the_slot_advances_while_the_published_table_is_idle_and_the_publisher_can_stop() {
        try (PostgresServer server =
                PostgresServer.publisher(RunOptions.publisherVersion()).start()) {
            Database other = server.createDatabase("other");
            other.execute("CREATE TABLE noise(v text)");
            server.maintenance().execute("ALTER DATABASE postgres SET wal_sender_timeout = 0");
            DatabasePair pair = DatabasePair.on(server, SharedServers.target(RunOptions.targetVersion()));
            try (Scenario scenario = Scenario.of(pair)) {
                scenario.onBoth("CREATE TABLE x05(id int PRIMARY KEY)");
                scenario.publisher().execute("CREATE TABLE noise(v text)");
                scenario.publish("x05");
                scenario.option("wal_receiver_status_interval", RunOptions.longRun() ? "10s" : "2s");
                scenario.start();
                scenario.awaitCaughtUp();

                for (int burst = 0; burst < RunOptions.number(2, 20); burst++) {
                    for (Database busy : new Database[] {scenario.publisher(), other}) {
                        assertConfirmedAfterNoise(scenario, busy);
                    }
                }

                assertRestartLsnMoves(scenario);
                long before = System.nanoTime();
                server.stop(ShutdownMode.FAST);
                assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
                server.start();
                scenario.engine().awaitStreaming();
            }
        }
    }

    private static void assertConfirmedAfterNoise(Scenario scenario, Database busy) {
        busy.execute("INSERT INTO noise SELECT repeat('n',8000) FROM generate_series(1,200)");
        Lsn end = busy.insertLsn();
        Wait.until(
                "the idle slot to be confirmed up to " + end,
                Duration.ofSeconds(15),
                () -> !scenario.publisher().confirmedFlushLsn(scenario.slot()).isBefore(end),
                () -> scenario.engine().explain());
    }

    private static void assertRestartLsnMoves(Scenario scenario) {
        String restart = "SELECT restart_lsn - '0/0'::pg_lsn FROM pg_replication_slots WHERE slot_name = "
                + Database.literal(scenario.slot());
        Database publisher = scenario.publisher();
        String before = String.valueOf(publisher.value(restart));
        Wait.until("restart_lsn to move", Duration.ofSeconds(60), () -> {
            publisher.execute("CHECKPOINT");
            return !before.equals(publisher.value(restart));
        });
    }
}
