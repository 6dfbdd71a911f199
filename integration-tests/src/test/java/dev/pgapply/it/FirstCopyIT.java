package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The first copy as an operator meets it, with an engine's process around it, and what follows it. */
class FirstCopyIT {

    /** A copy, and then a transaction, that stands at a lock on the target for longer than any of the roles' timeouts. */
    @Test
    void o02_timeouts_of_the_roles_reach_neither_the_copy_nor_a_transaction_that_has_to_wait() throws Exception {
        String role = RunOptions.uniqueName("engine");
        DatabasePair pair = DatabasePair.shared();
        try (Scenario scenario =
                Scenario.of(pair).publisherUrl(url(pair.publisher(), role)).targetUrl(url(pair.target(), role))) {
            scenario.onBoth("CREATE TABLE o02(id int PRIMARY KEY, v text)", "CREATE TABLE small(id int)")
                    .publish("o02", "small");
            scenario.publisher().execute("INSERT INTO o02 SELECT g, repeat('x', 50) FROM generate_series(1, 50000) g");
            for (Database side : new Database[] {pair.publisher(), pair.target()}) {
                side.execute(
                        "CREATE ROLE " + role + " LOGIN SUPERUSER PASSWORD '" + PostgresServer.PASSWORD + "'",
                        "ALTER ROLE " + role + " SET statement_timeout = '500ms'",
                        "ALTER ROLE " + role + " SET lock_timeout = '200ms'",
                        "ALTER ROLE " + role + " SET idle_in_transaction_session_timeout = '500ms'",
                        "ALTER ROLE " + role + " SET idle_session_timeout = '500ms'",
                        "ALTER ROLE " + role + " SET transaction_timeout = '900ms'");
            }
            try (Connection connection = scenario.target().connect();
                    Statement lock = connection.createStatement()) {
                connection.setAutoCommit(false);
                lock.execute("LOCK TABLE o02 IN SHARE MODE");
                scenario.launch();
                awaitLongWait(scenario, role);
                connection.commit();
                scenario.engine().awaitStreaming();
                scenario.assertSame("o02");

                lock.execute("SELECT FROM o02 WHERE id = 700 FOR UPDATE");
                scenario.publisher()
                        .transaction(
                                "UPDATE o02 SET v = 'streamed' WHERE id <= 1000",
                                "INSERT INTO o02 SELECT g, 'new' FROM generate_series(50001, "
                                        + RunOptions.number(70_000, 250_000) + ") g");
                awaitLongWait(scenario, role);
                connection.commit();
            }
            scenario.assertSame("o02");
            assertThat(scenario.engine().log()).doesNotContain("canceling statement", "due to", "ERROR");
            scenario.stop();
            scenario.publisher().dropSlot(pair.name());
            for (Database side : new Database[] {pair.publisher(), pair.target()}) {
                side.execute(
                        "REASSIGN OWNED BY " + role + " TO postgres", "DROP OWNED BY " + role, "DROP ROLE " + role);
            }
        }
    }

    private static void awaitLongWait(Scenario scenario, String role) {
        Wait.until(
                "a session to wait longer than every timeout",
                () -> scenario.target()
                        .isTrue("SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND usename = '" + role + "' AND wait_event_type = 'Lock'"
                                + " AND clock_timestamp() - query_start > interval '1200 ms'"));
    }

    private static String url(Database database, String role) {
        return database.libpqUrl(role, database.server().port());
    }

    @Test
    void o02_a_blocked_slot_creation_is_shown_everywhere_and_survives_a_kill() throws Exception {
        try (Scenario scenario = Scenario.shared().ownProcess();
                Connection blocking = scenario.publisher().connect();
                Statement open = blocking.createStatement()) {
            scenario.onBoth("CREATE TABLE o02(id int PRIMARY KEY, v text)").publish("o02");
            blocking.setAutoCommit(false);
            open.execute("INSERT INTO o02 VALUES (1, 'one')");
            scenario.launch();
            EngineProcess engine = scenario.engine();
            engine.awaitStatus("waiting_for_slot");
            JsonNode waiting = engine.status().path("slot_wait");
            assertThat(waiting.path("phase").asText()).isEqualTo("BUILDING_SNAPSHOT");
            assertThat(waiting.path("waited_for").asInt()).isEqualTo(1);
            JsonNode named = waiting.path("transactions").path(0);
            assertThat(named.path("pid").asLong()).isPositive();
            assertThat(named.path("user").asText()).isEqualTo("postgres");
            assertThat(named.path("age_seconds").asDouble()).isPositive();
            assertThat(named.path("query").asText()).contains("INSERT INTO o02");
            EngineCommand status =
                    EngineCommand.run("status", "--url", engine.rest().base().toString());
            assertThat(status.output())
                    .contains("waits for pid " + named.path("pid").asLong() + ", user \"postgres\"")
                    .contains("before the slot can be created");
            assertThat(engine.log()).contains("before the slot can be created");

            engine.killNine();
            engine.start();
            engine.awaitStatus("waiting_for_slot");
            blocking.commit();

            engine.awaitStreaming();
            scenario.assertSame("o02");
            assertThat(scenario.publisher()
                            .number("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'"
                                    + " AND application_name = '" + scenario.slot() + "'"))
                    .isEqualTo(1);
        }
    }

    /** Two rows of 20 MB in each of two tables, one in binary and one in text format, through a heap of 64 MB with two workers. */
    @Test
    void rows_of_20_megabytes_go_through_a_small_heap() {
        int rows = RunOptions.number(2, 30);
        try (Scenario scenario = Scenario.shared()
                .heap("64m")
                .option("receive_queue", "4MB")
                .option("batch", "{ max_rows: 5000, max_bytes: 4MB }")) {
            scenario.publisher()
                    .execute("CREATE TABLE wide(id int, v bytea)", "CREATE TABLE wide_text(id int, v text)");
            scenario.target()
                    .execute("CREATE TABLE wide(id int, v bytea)", "CREATE TABLE wide_text(id bigint, v text)");
            scenario.onBoth(
                    "ALTER TABLE wide ALTER v SET STORAGE EXTERNAL",
                    "ALTER TABLE wide_text ALTER v SET STORAGE EXTERNAL");
            scenario.publisher()
                    .execute(
                            "INSERT INTO wide SELECT g, decode(repeat(md5(g::text), 20 * 1024 * 1024 / 16), 'hex')"
                                    + " FROM generate_series(1, " + rows + ") g",
                            "INSERT INTO wide_text SELECT g, repeat(md5(g::text), 20 * 1024 * 1024 / 32)"
                                    + " FROM generate_series(1, " + rows + ") g");
            scenario.publish("wide", "wide_text").launch();

            scenario.engine().awaitStatus(scenario.slot(), Duration.ofMinutes(5), Set.of("streaming"));

            for (String table : new String[] {"wide", "wide_text"}) {
                TableComparison.of(scenario.pair()).assertSameRows("SELECT id, length(v), md5(v) FROM " + table);
            }
            assertThat(scenario.target().number("SELECT min(octet_length(v)) FROM wide"))
                    .isEqualTo(20L * 1024 * 1024);
        }
    }

    @Test
    void many_tables_are_all_copied_and_followed() {
        int tables = RunOptions.number(60, 500);
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("DO $$ BEGIN FOR i IN 1.." + tables
                    + " LOOP EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, v text)', i); END LOOP; END $$");
            scenario.publisher()
                    .execute("DO $$ BEGIN FOR i IN 1.." + tables
                            + " LOOP EXECUTE format('INSERT INTO t%s SELECT g, md5(g::text) FROM generate_series(1, %s) g', i, i % 50);"
                            + " END LOOP; END $$");
            scenario.pair().publishAll();
            long begun = System.nanoTime();
            scenario.launch();
            scenario.engine().awaitStatus(scenario.slot(), Duration.ofMinutes(5), Set.of("streaming"));
            System.out.printf("%d tables copied in %d ms%n", tables, (System.nanoTime() - begun) / 1_000_000);

            scenario.publisher()
                    .execute("DO $$ BEGIN FOR i IN 1.." + tables
                            + " LOOP EXECUTE format('INSERT INTO t%s VALUES (1000, ''new'')', i); END LOOP; END $$");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertAllTablesSame();
            assertThat(scenario.engine().rest().subscription(scenario.slot(), "tables"))
                    .hasSize(tables);
        }
    }

    @Test
    void an_empty_database_streams_at_once() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.pair().publishAll();

            scenario.start();

            scenario.awaitCaughtUp();
            assertThat(scenario.engine().rest().subscription(scenario.slot(), "tables"))
                    .isEmpty();
            assertThat(scenario.engine().status().path("copy").isNull()).isTrue();
        }
    }

    @Test
    void two_databases_of_one_server_follow_one_publisher_each_for_itself() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String second = RunOptions.uniqueName("it");
            Database other = pair.target().server().createDatabase(second);
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY, v text)").publish("t");
            other.execute("CREATE TABLE t (id int PRIMARY KEY, v text)");
            pair.publisher().execute("INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 1000) g");
            EngineConfig config = EngineConfig.subscription(pair.name())
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .and(second)
                    .from(pair.publisher())
                    .to(other)
                    .publications(DatabasePair.PUBLICATION)
                    .build();
            try (EngineProcess engine = EngineProcess.start(config)) {
                for (String name : new String[] {pair.name(), second}) {
                    engine.awaitStatus(name, Wait.SOON, Set.of("streaming"));
                }
                pair.publisher().execute("INSERT INTO t SELECT g, 'streamed' FROM generate_series(1001, 2000) g");
                for (String name : new String[] {pair.name(), second}) {
                    engine.awaitApplied(name, pair.publisher().insertLsn(), Wait.SOON);
                }

                engine.stop();
                EngineCommand drop =
                        EngineCommand.run("drop", "-c", config.file().toString(), second);
                assertThat(drop.exit()).as(drop.output()).isZero();
                pair.publisher().execute("UPDATE t SET v = 'after' WHERE id % 2 = 0");
                assertThat(pair.publisher()
                                .column("SELECT slot_name FROM pg_replication_slots"
                                        + " WHERE database = current_database()"))
                        .containsExactly(pair.name());
            }
            assertThat(other.number("SELECT count(*) FROM t")).isEqualTo(2000);
            try (EngineProcess engine = EngineProcess.start(EngineConfig.subscription(pair.name())
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .build())) {
                engine.awaitStreaming();
                engine.awaitCaughtUp();
                TableComparison.of(pair).assertSame("t");
            }
            assertThat(other.number("SELECT count(*) FROM t WHERE v = 'after'")).isZero();
            other.drop();
        }
    }
}
