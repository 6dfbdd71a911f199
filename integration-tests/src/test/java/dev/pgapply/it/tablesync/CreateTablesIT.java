package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SubscriptionRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code create_tables: missing} on real servers: what comes to be on a target that has nothing, or something, of what is published. */
class CreateTablesIT {

    /** Whoever creates an index waits until nobody holds table gate. */
    private static final String[] GATE = {
        "CREATE SCHEMA gate",
        "CREATE TABLE gate.gate (id int)",
        "CREATE FUNCTION gate.pass() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM gate.gate; END'",
        "CREATE EVENT TRIGGER gate ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION gate.pass()",
        "ALTER EVENT TRIGGER gate ENABLE ALWAYS"
    };

    private static void firstStart(DatabasePair pair) {
        try (FirstStart start = FirstStart.of(FirstStart.creatingTables(pair))) {
            assertThat(start.run().consistentPoint()).isNotNull();
        }
    }

    private static List<String> unfinished(DatabasePair pair) {
        return pair.target().column("SELECT table_name FROM pgapply.created_table ORDER BY 1");
    }

    @ParameterizedTest
    @CsvSource({"18, 18", "14, 18", "18, 14"})
    void a_target_without_any_table_becomes_equal_to_the_publisher(int publisherVersion, int targetVersion) {
        try (DatabasePair pair = DatabasePair.shared(publisherVersion, targetVersion)) {
            pair.publisher().execute(RichSchema.STATEMENTS);
            pair.publishAll();

            firstStart(pair);

            SchemaFacts.assertSame(pair);
            TableComparison.of(pair).assertAllTablesSame();
            assertThat(unfinished(pair)).isEmpty();
        }
    }

    @Test
    void a_table_that_is_there_stays_as_it_is_and_so_do_type_and_sequence() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE TYPE mood AS ENUM ('sad', 'ok')",
                            "CREATE SEQUENCE numbers",
                            "CREATE TABLE here (id int PRIMARY KEY, m mood, n int DEFAULT nextval('numbers') UNIQUE)",
                            "CREATE TABLE absent (id int PRIMARY KEY, m mood, n int DEFAULT nextval('numbers'),"
                                    + " h int REFERENCES here)",
                            "INSERT INTO here VALUES (1, 'ok')",
                            "INSERT INTO absent VALUES (2, 'sad', 3, 1)");
            pair.publishAll();
            pair.target()
                    .execute(
                            "CREATE TYPE mood AS ENUM ('bad', 'sad', 'ok')",
                            "CREATE SEQUENCE numbers START 500",
                            "CREATE TABLE here (more text DEFAULT 'mine', n int, m mood, id int PRIMARY KEY)");
            List<String> before = facts(pair.target(), " here", "sequence", "type mood");

            firstStart(pair);

            assertThat(facts(pair.target(), " here", "sequence", "type mood")).isEqualTo(before);
            assertThat(pair.target().column("SELECT more FROM here")).containsExactly("mine");
            TableComparison.of(pair).assertSame("absent");
            assertThat(facts(pair.target(), "absent")).isEqualTo(facts(pair.publisher(), "absent"));
        }
    }

    private static List<String> facts(Database database, String... words) {
        return SchemaFacts.of(database).stream()
                .filter(fact -> !fact.contains("absent_h_fkey") || words[0].equals("absent"))
                .filter(fact -> List.of(words).stream().anyMatch(fact::contains))
                .toList();
    }

    @Test
    void a_start_that_broke_off_between_two_tables_goes_on_with_the_second() throws Exception {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE TABLE a (id serial PRIMARY KEY, v text UNIQUE)",
                            "CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a)",
                            "INSERT INTO a (v) VALUES ('x')",
                            "INSERT INTO b VALUES (1, 1)");
            pair.publishAll();
            CompletableFuture<SubscriptionRow> abandoned;
            try (Connection other = pair.target().connect();
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute("CREATE TABLE b ()");
                abandoned = FirstStart.of(FirstStart.creatingTables(pair)).runAside();
                Wait.until(
                        "table a to be there and b to wait",
                        () -> pair.target()
                                .isTrue(
                                        "SELECT to_regclass('a') IS NOT NULL AND EXISTS (SELECT FROM"
                                                + " pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE TABLE%')"));
                assertThat(unfinished(pair)).containsExactly("a");
                pair.target()
                        .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                                + " current_database() AND (application_name IN ('lock', 'control')"
                                + " OR application_name LIKE '% copy')");
            }
            assertThatThrownBy(() -> abandoned.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);

            firstStart(pair);

            SchemaFacts.assertSame(pair);
            TableComparison.of(pair).assertSame("a", "b");
            assertThat(unfinished(pair)).isEmpty();
        }
    }

    @Test
    void an_engine_killed_while_it_builds_indexes_goes_on_with_them_and_copies_nothing_again() throws SQLException {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE TABLE parent (id int PRIMARY KEY, v text)",
                            "CREATE INDEX parent_v ON parent (v)",
                            "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent)",
                            "INSERT INTO parent SELECT g, 'v' || g FROM generate_series(1, 1000) g",
                            "INSERT INTO child SELECT g, g FROM generate_series(1, 1000) g");
            pair.publishAll().target().execute(GATE);
            EngineConfig config = EngineConfig.subscription(pair.name())
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .option("create_tables", "missing")
                    .build();
            try (EngineProcess engine = EngineProcess.of(config).ownProcess().start()) {
                try (Connection other = pair.target().connect();
                        Statement statement = other.createStatement()) {
                    other.setAutoCommit(false);
                    statement.execute("LOCK TABLE gate.gate");
                    Wait.until(
                            "the index to wait at the gate",
                            () -> pair.target()
                                    .isTrue("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted"
                                            + " AND relation = 'gate.gate'::regclass)"));
                    assertShown(engine.status());
                    engine.killNine();
                    statement.execute("CREATE TABLE gate.copies AS SELECT xmin::text AS copied FROM parent LIMIT 1");
                    other.commit();
                }

                engine.start();
                engine.awaitStreaming();

                SchemaFacts.assertSame(pair);
                assertThat(pair.target()
                                .number("SELECT count(*) FROM parent p JOIN gate.copies ON p.xmin::text = copied"))
                        .isEqualTo(1000);
                pair.publisher().execute("INSERT INTO parent VALUES (1001, 'later')", "DELETE FROM child WHERE id = 7");
                engine.awaitCaughtUp();
                TableComparison.of(pair).assertSame("parent", "child");
                assertThat(unfinished(pair)).isEmpty();
            }
        }
    }

    @Test
    void a_table_added_later_is_created_with_its_indexes_and_gets_its_foreign_keys_when_all_are_in_step() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute("CREATE TABLE base (id int PRIMARY KEY, v text)", "INSERT INTO base VALUES (1, 'a')");
            pair.publishAll();
            EngineConfig config = EngineConfig.subscription(pair.name())
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .option("create_tables", "missing")
                    .build();
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitStreaming();
                pair.publisher()
                        .execute(
                                "CREATE TYPE mood AS ENUM ('sad', 'ok')",
                                "CREATE TABLE added (id serial PRIMARY KEY, m mood, b int REFERENCES base)",
                                "CREATE INDEX added_b ON added (b)",
                                "INSERT INTO added (m, b) SELECT 'ok', 1 FROM generate_series(1, 100)");

                // A change that comes before the refresh has no table to go to, and stops nothing.
                engine.awaitCaughtUp();
                RestClient.Answer refreshed = engine.rest().command(pair.name(), "refresh");
                assertThat(refreshed.status()).as(refreshed.body()).isEqualTo(200);

                Wait.until(
                        "table added to be in step",
                        () -> pair.target()
                                .column("SELECT state FROM pgapply.subscription_rel WHERE table_name = 'added'")
                                .equals(List.of("r")));
                pair.publisher().execute("UPDATE added SET m = 'sad' WHERE id < 10");
                engine.awaitCaughtUp();
                TableComparison.of(pair).assertSame("base", "added");
                assertThat(facts(pair.target(), "index")).isEqualTo(facts(pair.publisher(), "index"));
                Wait.until("the foreign key", Wait.SOON, () -> unfinished(pair).isEmpty(), engine::explain);

                SchemaFacts.assertSame(pair);
                assertThat(engine.status().path("status").asText()).isEqualTo("streaming");
                pair.publisher()
                        .execute("INSERT INTO base VALUES (2, 'b')", "INSERT INTO added (m, b) VALUES ('ok', 2)");
                engine.awaitCaughtUp();
                TableComparison.of(pair).assertSame("base", "added");
            }
        }
    }

    private static void assertShown(JsonNode status) {
        assertThat(status.path("status").asText()).isEqualTo("copying");
        assertThat(status.path("status_reason").asText())
                .isEqualTo("creating index \"parent_v\" of table \"public.parent\", 1 of 2");
        assertThat(status.path("create_tables").path("step").asText())
                .isEqualTo("index \"parent_v\" of table \"public.parent\"");
        assertThat(status.path("create_tables").path("steps").asInt()).isEqualTo(2);
        assertThat(status.path("lag").path("explanation").asText()).contains("index \"parent_v\"");
    }
}
