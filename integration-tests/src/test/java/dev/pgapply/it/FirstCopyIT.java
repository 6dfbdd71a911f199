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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first copy as an operator meets it, with an engine's process around it, and what follows it. */
class FirstCopyIT {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void s05_a_partitioned_table_goes_via_its_root_and_an_inheriting_one_by_itself(boolean partitionedTarget) {
        try (Scenario scenario = Scenario.shared()) {
            partitionedEvents(scenario.publisher());
            scenario.publisher()
                    .execute(
                            "CREATE TABLE base(id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid(extra int, PRIMARY KEY(id)) INHERITS(base)",
                            "INSERT INTO base VALUES (1,'b')",
                            "INSERT INTO kid VALUES (2,'k',9)",
                            "CREATE PUBLICATION pb FOR TABLE ev, ONLY base, kid WITH (publish_via_partition_root=true)");
            scenario.target()
                    .execute(
                            "CREATE TABLE base(id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid(id int PRIMARY KEY, v text, extra int)",
                            "CREATE TABLE ev(id int, d date, v text, PRIMARY KEY(id,d))"
                                    + (partitionedTarget ? " PARTITION BY HASH(id)" : ""));
            for (int i = 0; partitionedTarget && i < 4; i++) {
                scenario.target()
                        .execute("CREATE TABLE ev_" + i + " PARTITION OF ev FOR VALUES WITH (MODULUS 4, REMAINDER " + i
                                + ")");
            }
            scenario.start();
            scenario.assertSame("ev");

            scenario.publisher()
                    .execute(
                            "UPDATE ev SET d=d+interval '1 year' WHERE extract(year FROM d)=2020 AND id<10",
                            "CREATE TABLE ev22 PARTITION OF ev FOR VALUES FROM('2022-01-01') TO('2023-01-01')",
                            "INSERT INTO ev VALUES(900,'2022-05-05','n')",
                            "UPDATE base SET v=v||'!'");
            scenario.assertSame("ev");
            scenario.publisher().execute("TRUNCATE ev", "INSERT INTO ev VALUES(901,'2021-05-05','after')");

            scenario.assertSame("ev");
            assertThat(scenario.target().column("SELECT id || v FROM base")).containsExactly("1b!");
            assertThat(scenario.target().column("SELECT id || v || extra FROM kid"))
                    .containsExactly("2k!9");
        }
    }

    private static void partitionedEvents(Database database) {
        database.execute(
                "CREATE TABLE ev(id int, d date, v text, PRIMARY KEY(id,d)) PARTITION BY RANGE(d)",
                "CREATE TABLE ev20(v text, x int, d date NOT NULL, id int NOT NULL)",
                "ALTER TABLE ev20 DROP COLUMN x",
                "ALTER TABLE ev ATTACH PARTITION ev20 FOR VALUES FROM('2020-01-01') TO('2021-01-01')",
                "CREATE TABLE ev21 PARTITION OF ev FOR VALUES FROM('2021-01-01') TO('2022-01-01')",
                "INSERT INTO ev SELECT g, '2020-01-01'::date + g * 7, 'v' || g FROM generate_series(1,100) g");
    }

    @Test
    void s05_leaves_that_are_published_by_themselves_go_to_leaves_of_the_same_name() {
        try (Scenario scenario = Scenario.shared()) {
            partitionedEvents(scenario.publisher());
            partitionedEvents(scenario.target());
            scenario.target().execute("TRUNCATE ev");
            scenario.publish("ev").start();

            scenario.publisher()
                    .execute("UPDATE ev SET d=d+interval '1 year' WHERE extract(year FROM d)=2020 AND id<10");

            scenario.assertSame("ev20", "ev21");
        }
    }

    private static void fillFiltered(Scenario scenario) {
        scenario.onBoth(
                "CREATE TABLE s06(id int PRIMARY KEY, region text, amt int)", "ALTER TABLE s06 REPLICA IDENTITY FULL");
        scenario.publisher().execute("INSERT INTO s06 VALUES (1,'us',1),(2,'eu',1),(3,NULL,1),(4,'us',1)");
    }

    @Test
    void s06_a_row_filter_holds_for_the_copy_and_for_rows_that_move_in_and_out() {
        try (Scenario scenario = Scenario.shared()) {
            fillFiltered(scenario);
            scenario.publisher().execute("CREATE PUBLICATION pb FOR TABLE s06 WHERE (region='us')");
            scenario.start();
            assertThat(scenario.target().column("SELECT id FROM s06 ORDER BY 1"))
                    .containsExactly("1", "4");

            scenario.publisher()
                    .execute(
                            "UPDATE s06 SET region='eu' WHERE id=1",
                            "UPDATE s06 SET region='us' WHERE id=2",
                            "UPDATE s06 SET amt=5 WHERE id=2",
                            "UPDATE s06 SET region='us' WHERE id=3",
                            "UPDATE s06 SET region=NULL WHERE id=3",
                            "UPDATE s06 SET id=40 WHERE id=4",
                            "DELETE FROM s06 WHERE id=1");

            scenario.awaitCaughtUp();
            assertThat(scenario.target().column("SELECT s06::text FROM s06 ORDER BY id"))
                    .containsExactly("(2,us,5)", "(40,us,1)");
        }
    }

    @Test
    void s06_a_row_that_meets_either_of_two_filters_is_copied_and_followed() {
        try (Scenario scenario = Scenario.shared().option("publications", "[pb, pc]")) {
            fillFiltered(scenario);
            scenario.publisher()
                    .execute(
                            "INSERT INTO s06 VALUES (5,'eu',9)",
                            "CREATE PUBLICATION pb FOR TABLE s06 WHERE (region='us')",
                            "CREATE PUBLICATION pc FOR TABLE s06 WHERE (amt>3)");
            scenario.start();
            assertThat(scenario.target().column("SELECT id FROM s06 ORDER BY 1"))
                    .containsExactly("1", "4", "5");

            scenario.publisher()
                    .execute(
                            "UPDATE s06 SET amt=4 WHERE id=3",
                            "UPDATE s06 SET region='eu' WHERE id=1",
                            "UPDATE s06 SET amt=1, region='us' WHERE id=5",
                            "UPDATE s06 SET amt=9, region='eu' WHERE id=4");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSameRows("SELECT * FROM s06 WHERE region='us' OR amt>3");
            assertThat(scenario.target().column("SELECT id FROM s06 ORDER BY 1"))
                    .containsExactly("3", "4", "5");
        }
    }

    /** A copy that stands at a lock on the target for longer than any of the roles' timeouts. */
    @Test
    void o02_timeouts_of_the_roles_do_not_reach_the_copy() throws Exception {
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
                Wait.until(
                        "the copy to wait longer than every timeout",
                        () -> scenario.target()
                                .isTrue("SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND usename = '" + role + "' AND wait_event_type = 'Lock'"
                                        + " AND clock_timestamp() - query_start > interval '1200 ms'"));
                connection.commit();
            }
            scenario.engine().awaitStreaming();
            scenario.assertSame("o02");
            assertThat(scenario.engine().log()).doesNotContain("canceling statement", "due to", "ERROR");
            scenario.stop();
            scenario.publisher().execute("SELECT pg_drop_replication_slot('" + pair.name() + "')");
            for (Database side : new Database[] {pair.publisher(), pair.target()}) {
                side.execute(
                        "REASSIGN OWNED BY " + role + " TO postgres", "DROP OWNED BY " + role, "DROP ROLE " + role);
            }
        }
    }

    private static String url(Database database, String role) {
        return database.libpqUrl(role, database.server().port());
    }

    @Test
    void o02_a_blocked_slot_creation_is_shown_everywhere_and_survives_a_kill() throws Exception {
        try (Scenario scenario = Scenario.shared();
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

    /** Three rows of 20 MB in each of two tables, one in binary and one in text format, through a heap of 64 MB with two workers. */
    @Test
    void rows_of_20_megabytes_go_through_a_small_heap() {
        int rows = RunOptions.number(3, 30);
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
                TableComparison.of(scenario.pair()).assertSameRows("SELECT id, length(v), md5(v::text) FROM " + table);
            }
            assertThat(scenario.target().number("SELECT min(octet_length(v)) FROM wide"))
                    .isEqualTo(20L * 1024 * 1024);
        }
    }

    @Test
    void many_tables_are_all_copied_and_followed() {
        int tables = RunOptions.number(100, 500);
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
