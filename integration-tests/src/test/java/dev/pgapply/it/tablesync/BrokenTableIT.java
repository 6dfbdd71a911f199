package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A table that cannot be synchronised, or that changes under its copy, while all others go on. */
class BrokenTableIT {

    private static final int ROWS = 20_000;

    /** Table good, published; and table bad, whose copy on the target stops at the gate where it is closed. */
    private static DatabasePair goodAndBad() {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth("CREATE TABLE good(id int PRIMARY KEY, v text)", "CREATE TABLE bad(id int PRIMARY KEY, v text)")
                .publish("good");
        pair.publisher().execute("INSERT INTO bad SELECT g, repeat('b', 50) FROM generate_series(1, " + ROWS + ") g");
        Gate.prepare(pair.target(), "bad", 15_000);
        return pair;
    }

    private static void assertGoodGoesOn(SyncedEngine engine, int id) {
        engine.pair().publisher().execute("INSERT INTO good VALUES (" + id + ", 'goes on')");
        engine.awaitSame("good");
        assertThat(engine.process().status().path("status").asText()).isEqualTo("streaming");
    }

    private static void add(SyncedEngine engine, String table) {
        engine.pair().publisher().execute("ALTER PUBLICATION pb ADD TABLE " + table);
        engine.requireRefresh();
    }

    @Test
    void an_absent_table_shows_its_error_and_is_copied_once_it_is_there() {
        DatabasePair pair = goodAndBad();
        pair.publisher().execute("CREATE TABLE absent(id int PRIMARY KEY)", "INSERT INTO absent VALUES (1)");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            add(engine, "absent");

            engine.awaitError("absent", "logical replication target relation \"public.absent\" does not exist");
            pair.publisher().execute("INSERT INTO absent VALUES (2)");
            assertGoodGoesOn(engine, 1);
            pair.target().execute("CREATE TABLE absent(id int PRIMARY KEY)");

            engine.awaitState("r", "absent");
            engine.awaitSame("absent", "good");
            assertThat(engine.error("absent")).isEmpty();
        }
    }

    @Test
    void a_table_with_a_row_that_the_target_refuses_is_retried_without_stopping_the_others() {
        DatabasePair pair = goodAndBad();
        pair.target().execute("ALTER TABLE bad ADD CHECK (id <> 10)");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            add(engine, "bad");

            engine.awaitError("bad", "violates check constraint");
            assertGoodGoesOn(engine, 1);
            Wait.until(
                    "it to be tried again",
                    () -> engine.process().log().split("table \"public.bad\" could not be synchronised", -1).length
                            > 2);
            assertThat(pair.target().number("SELECT count(*) FROM bad")).isZero();
            pair.publisher().execute("DELETE FROM bad WHERE id = 10");
            engine.awaitState("r", "bad");
            engine.awaitSame("bad", "good");
        }
    }

    /** Beside one that is copied there are one with a row that is refused, one that is rewritten before its turn, and one that goes away. */
    @Test
    void tables_that_break_at_the_first_start_are_copied_beside_the_stream_once_they_can_be() {
        DatabasePair pair = goodAndBad();
        pair.onBoth("CREATE TABLE late(id int PRIMARY KEY, v text)", "CREATE TABLE gone(id int PRIMARY KEY)");
        pair.publisher()
                .execute(
                        "INSERT INTO good SELECT g, repeat('g', 80) FROM generate_series(1, " + ROWS + ") g",
                        "DELETE FROM bad WHERE id > 100",
                        "VACUUM FULL bad",
                        "INSERT INTO late SELECT g, 'late' FROM generate_series(1, 100) g",
                        "INSERT INTO gone VALUES (1)",
                        "ALTER PUBLICATION pb ADD TABLE bad, late, gone");
        pair.target().execute("ALTER TABLE bad ADD CHECK (id <> 10)");
        Gate.prepare(pair.target(), "good", 15_000);
        try (Gate gate = Gate.closed(pair.target());
                SyncedEngine engine =
                        SyncedEngine.launch(pair, UnaryOperator.identity(), "max_sync_workers_per_subscription", "1")) {
            gate.awaitCopy();
            pair.publisher()
                    .execute("VACUUM FULL late", "UPDATE late SET v = 'rewritten' WHERE id = 1", "DROP TABLE gone");
            gate.close();

            engine.process().awaitStreaming();
            engine.awaitError("bad", "violates check constraint");
            engine.awaitError("gone", "is not published any more");
            engine.awaitState("r", "good", "late");
            engine.awaitSame("good", "late");
            assertThat(pair.target()
                            .column(
                                    "SELECT table_name FROM pgapply.subscription_rel JOIN pgapply.subscription USING (subid)"
                                            + " WHERE sync_lsn = consistent_point"))
                    .containsExactly("good");
            assertGoodGoesOn(engine, -1);
            pair.publisher().execute("DELETE FROM bad WHERE id = 10");
            engine.awaitState("r", "bad");
            engine.awaitSame("bad", "good");
        }
    }

    @Test
    void a_change_held_back_that_the_target_refuses_breaks_its_table_alone() {
        DatabasePair pair = goodAndBad();
        pair.target().execute("ALTER TABLE bad ADD CHECK (v <> 'refused')");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            try (Gate gate = Gate.closed(pair.target())) {
                add(engine, "bad");
                gate.awaitCopy();
                pair.publisher().execute("INSERT INTO bad VALUES (-1, 'refused')");
                assertGoodGoesOn(engine, 1);
            }

            engine.awaitError("bad", "violates check constraint");
            assertGoodGoesOn(engine, 2);
            pair.publisher().execute("DELETE FROM bad WHERE id = -1");
            engine.awaitState("r", "bad");
            engine.awaitSame("bad", "good");
        }
    }

    @Test
    void a_table_whose_target_has_rows_is_refused_with_their_number_and_resync_empties_it() {
        DatabasePair pair = goodAndBad();
        pair.target().execute("INSERT INTO bad VALUES (1, 'here'), (2, 'before'), (999999, 'them')");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            add(engine, "bad");

            engine.awaitError("bad", "target is not empty: table \"public.bad\" has 3 rows");
            assertGoodGoesOn(engine, 1);
            engine.requireResync("public.bad");

            engine.awaitState("r", "bad");
            engine.awaitSame("bad", "good");
        }
    }

    /** Case N04 a and b. */
    @Test
    void a_table_that_is_dropped_or_renamed_while_it_is_copied_ends_with_a_reason_and_leaves_at_refresh() {
        DatabasePair pair = goodAndBad();
        pair.onBoth("CREATE TABLE renamed(id int PRIMARY KEY, v text)");
        pair.publisher().execute("INSERT INTO renamed SELECT * FROM bad");
        Gate.prepare(pair.target(), "renamed", 15_000);
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            try (Gate gate = Gate.closed(pair.target())) {
                add(engine, "bad, renamed");
                gate.awaitCopy();
                // The copy has a lock; DDL waits for its end, and comes before the hand-over or after it.
                Thread ddl = aside(pair.publisher(), "ALTER TABLE renamed RENAME TO other", "DROP TABLE bad");
                Wait.until(
                        "DDL to wait for the copy",
                        () -> pair.publisher()
                                        .number(
                                                "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'"
                                                        + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
                                == 1);
                assertGoodGoesOn(engine, 1);
                gate.close();
                join(ddl);
            }
            // What is not done yet ends with a reason; what is done has nothing more to come.
            Wait.until(
                    "both to be settled",
                    SyncedEngine.LONG_ENOUGH,
                    () -> isSettled(engine, "bad") && isSettled(engine, "renamed"),
                    engine.process()::explain);
            assertGoodGoesOn(engine, 2);

            engine.requireRefresh();

            assertThat(engine.state("bad")).isEmpty();
            assertThat(engine.state("renamed")).isEmpty();
            // "other" is published by its membership, and absent on the target.
            engine.awaitError("other", "does not exist");
            assertGoodGoesOn(engine, 3);
        }
    }

    private static boolean isSettled(SyncedEngine engine, String table) {
        return engine.state(table).equals("r") || engine.error(table).contains("is not published any more");
    }

    @Test
    void a_table_that_is_truncated_or_rewritten_while_it_is_copied_is_the_same_at_the_end() {
        DatabasePair pair = goodAndBad();
        pair.onBoth("CREATE TABLE rewritten(id int PRIMARY KEY, v text)");
        pair.publisher().execute("INSERT INTO rewritten SELECT * FROM bad");
        Gate.prepare(pair.target(), "rewritten", 15_000);
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            try (Gate gate = Gate.closed(pair.target())) {
                add(engine, "bad, rewritten");
                gate.awaitCopy();
                Thread truncate = aside(
                        pair.publisher(),
                        "TRUNCATE bad",
                        "INSERT INTO bad VALUES (1, 'after the truncation')",
                        "VACUUM FULL rewritten",
                        "ALTER TABLE rewritten ALTER v TYPE varchar(60)",
                        "UPDATE rewritten SET v = 'rewritten' WHERE id % 100 = 0");
                assertGoodGoesOn(engine, 1);
                gate.close();
                join(truncate);
            }

            engine.awaitState("r", "bad", "rewritten");
            engine.awaitSame("bad", "rewritten", "good");
        }
    }

    @Test
    void a_truncate_of_a_held_table_and_others_is_split_and_a_foreign_key_between_them_does_not_hinder_it()
            throws SQLException {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth(
                        "CREATE TABLE parent(id int PRIMARY KEY)",
                        "CREATE TABLE child(id int PRIMARY KEY, parent int REFERENCES parent)",
                        "CREATE TABLE busy(id int)")
                .publish("parent", "child");
        pair.publisher()
                .execute(
                        "INSERT INTO parent SELECT generate_series(1, 100)",
                        "INSERT INTO child SELECT g, g FROM generate_series(1, 100) g");
        try (SyncedEngine engine = SyncedEngine.start(pair);
                Connection waited = pair.publisher().connect();
                Statement open = waited.createStatement()) {
            // The copy's slot waits for this transaction; the table is held meanwhile.
            waited.setAutoCommit(false);
            open.execute("INSERT INTO busy VALUES (1)");
            engine.requireResync("public.child");
            engine.awaitHeld();

            pair.publisher()
                    .execute(
                            "TRUNCATE parent, child",
                            "INSERT INTO parent VALUES (7)",
                            "INSERT INTO child VALUES (1, 7)");

            engine.awaitSame("parent");
            assertThat(engine.state("child")).isEqualTo("d");
            waited.commit();
            engine.awaitState("r", "child", "parent");
            engine.awaitSame("parent", "child");
        }
    }

    /** Case N07 a, b and c, for tables that are added later. */
    @Test
    void row_policies_and_missing_privileges_are_told_of_the_table_and_never_read_as_no_rows() {
        DatabasePair pair = DatabasePair.shared();
        String role = pair.name() + "_role";
        pair.onBoth(
                        "CREATE TABLE good(id int PRIMARY KEY, v text)",
                        "CREATE TABLE n07(id int PRIMARY KEY, owner text)",
                        "CREATE TABLE n07g(id int PRIMARY KEY)",
                        "CREATE TABLE n07c(id int PRIMARY KEY)")
                .publish("good");
        Database publisher = pair.publisher();
        Database target = pair.target();
        target.execute(
                "CREATE ROLE " + role + " LOGIN PASSWORD '" + PostgresServer.PASSWORD + "'",
                "GRANT CREATE ON DATABASE " + Database.quote(target.name()) + " TO " + role,
                "ALTER TABLE good OWNER TO " + role,
                "ALTER TABLE n07 OWNER TO " + role,
                "ALTER TABLE n07g OWNER TO " + role,
                "GRANT SELECT ON n07c TO " + role);
        publisher.execute(
                "INSERT INTO n07 SELECT g, 'somebody' FROM generate_series(1, 100) g",
                "INSERT INTO n07g VALUES (1)",
                "INSERT INTO n07c VALUES (1)",
                "ALTER TABLE n07 ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY p ON n07 USING (owner = current_user)",
                "CREATE ROLE " + role + " LOGIN REPLICATION PASSWORD '" + PostgresServer.PASSWORD + "'",
                "GRANT SELECT ON good, n07, n07c TO " + role);
        try (SyncedEngine engine =
                SyncedEngine.start(pair, "publisher", as(role, publisher), "target", as(role, target))) {
            add(engine, "n07, n07g, n07c");

            engine.awaitError("n07", "row-level security");
            engine.awaitError("n07g", "permission denied");
            engine.awaitError("n07c", "permission denied");
            assertThat(pair.target().number("SELECT count(*) FROM n07")).isZero();
            assertGoodGoesOn(engine, 1);
            publisher.execute("ALTER ROLE " + role + " BYPASSRLS", "GRANT SELECT ON n07g TO " + role);
            target.execute("GRANT INSERT, UPDATE, DELETE ON n07c TO " + role);

            engine.awaitState("r", "n07", "n07g", "n07c");
            assertThat(pair.target().number("SELECT count(*) FROM n07")).isEqualTo(100);
            TableComparison.of(pair).assertSame("n07", "n07g", "n07c", "good");
        } finally {
            publisher.server().maintenance().execute("DROP ROLE IF EXISTS " + role);
            target.server().maintenance().execute("DROP ROLE IF EXISTS " + role);
        }
    }

    private static String as(String role, Database database) {
        return "{ url: \"" + database.libpqUrl(role, database.server().port())
                + "\", password: \"${PGAPPLY_IT_PASSWORD}\" }";
    }

    private static Thread aside(Database database, String... statements) {
        Thread thread = new Thread(() -> {
            for (String statement : statements) {
                database.execute(statement);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void join(Thread thread) {
        Wait.until("the statements to end", () -> !thread.isAlive());
    }
}
