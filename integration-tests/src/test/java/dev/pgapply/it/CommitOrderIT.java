package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.Wait;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Where a transaction stands in the stream, and what a start makes of it. */
class CommitOrderIT {

    @Test
    void a_transaction_that_began_first_and_commits_last_is_applied_last_and_once() throws SQLException {
        try (Scenario scenario = Scenario.shared().ownProcess()) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)", "CREATE TABLE log(v text)")
                    .publish("t", "log");
            scenario.publisher().execute("INSERT INTO t VALUES (0, 'none')");
            scenario.start();
            try (Connection first = scenario.publisher().connect();
                    Connection second = scenario.publisher().connect()) {
                begin(first, "INSERT INTO log VALUES ('first')");
                begin(second, "INSERT INTO log VALUES ('second')");
                run(second, "UPDATE t SET v = 'second' WHERE id = 0");
                second.commit();
                awaitLog(scenario, "second");
                scenario.engine().killNine();
                run(first, "UPDATE t SET v = 'first' WHERE id = 0");
                first.commit();
                scenario.engine().start();
            }

            scenario.assertSame("t", "log");
            assertThat(scenario.target().value("SELECT v FROM t")).isEqualTo("first");
        }
    }

    @Test
    void a_commit_that_lies_where_the_last_one_ended_is_not_taken_for_applied() throws SQLException {
        try (PostgresServer quiet = PostgresServer.publisher(RunOptions.publisherVersion())
                        .setting("autovacuum", "off")
                        .start();
                Scenario scenario =
                        Scenario.of(DatabasePair.on(quiet, SharedServers.target(RunOptions.targetVersion())))) {
            scenario.onBoth("CREATE TABLE log(v text)").publish("log").start();

            int wanted = RunOptions.number(1, 2);
            int adjacent = 0;
            for (int attempt = 0; attempt < 10 && adjacent < wanted; attempt++) {
                adjacent += commitTwoSideBySide(scenario, attempt) ? 1 : 0;
            }

            assertThat(adjacent)
                    .as("attempts with nothing between the two commits")
                    .isEqualTo(wanted);
            scenario.assertSame("log");
        }
    }

    /** Gives whether the second commit's record began exactly where the first one's ended. */
    private static boolean commitTwoSideBySide(Scenario scenario, int attempt) throws SQLException {
        try (Connection one = scenario.publisher().connect();
                Connection two = scenario.publisher().connect()) {
            begin(one, "INSERT INTO log VALUES ('one" + attempt + "')");
            begin(two, "INSERT INTO log VALUES ('two" + attempt + "')");
            one.commit();
            awaitLog(scenario, "one" + attempt);
            String origin = remoteLsn(scenario);
            scenario.stop();
            Lsn end = scenario.publisher().insertLsn();
            two.commit();
            scenario.launch();
            scenario.awaitCaughtUp();
            return end.equals(Lsn.parse(origin));
        }
    }

    private static String remoteLsn(Scenario scenario) {
        return scenario.engine()
                .rest()
                .subscription(scenario.slot(), "origin")
                .path("remote_lsn")
                .asText();
    }

    @Test
    void a_row_lock_held_for_twice_wal_sender_timeout_does_not_cost_the_walsender() throws SQLException {
        try (PostgresServer publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                        .setting("wal_sender_timeout", "3s")
                        .start();
                Scenario scenario =
                        Scenario.of(DatabasePair.on(publisher, SharedServers.target(RunOptions.targetVersion())))) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY, v int)").publish("t");
            scenario.publisher().execute("INSERT INTO t VALUES (1, 0)");
            scenario.start();
            String walsender = "SELECT pid || ' ' || backend_start FROM pg_stat_replication";
            List<String> before = scenario.publisher().column(walsender);
            try (Connection blocker = scenario.target().connect()) {
                begin(blocker, "SELECT * FROM t WHERE id = 1 FOR UPDATE");
                scenario.publisher().execute("UPDATE t SET v = 1");
                long locked = System.nanoTime();
                Wait.until(
                        "twice wal_sender_timeout to pass",
                        Duration.ofSeconds(30),
                        () -> System.nanoTime() - locked > Duration.ofSeconds(6).toNanos());
                assertThat(scenario.publisher().column(walsender)).isEqualTo(before);
                blocker.rollback();
            }

            scenario.assertSame("t");
            assertThat(scenario.publisher().column(walsender)).isEqualTo(before).hasSize(1);
        }
    }

    @Test
    @DisabledIfSystemProperty(named = "pgapply.it.servers", matches = "containers")
    void a_target_restored_to_an_earlier_state_is_refused_with_the_size_of_the_gap() {
        try (PostgresServer target =
                        PostgresServer.target(RunOptions.targetVersion()).start();
                Scenario scenario =
                        Scenario.of(DatabasePair.on(SharedServers.publisher(RunOptions.publisherVersion()), target))) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY)").publish("t").start();
            scenario.publisher().execute("INSERT INTO t VALUES (1)");
            scenario.awaitCaughtUp();
            scenario.stop();
            Path copy = target.takeBaseCopy();
            scenario.launch();
            scenario.publisher().execute("INSERT INTO t SELECT g FROM generate_series(2, 1000) g");
            scenario.awaitCaughtUp();
            scenario.stop();
            Lsn confirmed = scenario.publisher().confirmedFlushLsn(scenario.slot());
            target.restore(copy);

            scenario.launch();

            JsonNode error = scenario.engine().awaitError(confirmed.toString());
            assertThat(error.path("message").asText()).contains("bytes");
            assertThat(scenario.target().number("SELECT count(*) FROM t")).isEqualTo(1);
            assertThat(scenario.publisher().confirmedFlushLsn(scenario.slot())).isEqualTo(confirmed);
        }
    }

    private static void awaitLog(Scenario scenario, String entry) {
        Wait.until(
                "\"" + entry + "\" on the target",
                () -> scenario.target().number("SELECT count(*) FROM log WHERE v = " + Database.literal(entry)) == 1);
    }

    private static void begin(Connection connection, String sql) throws SQLException {
        connection.setAutoCommit(false);
        run(connection, sql);
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
