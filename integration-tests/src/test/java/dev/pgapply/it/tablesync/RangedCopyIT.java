package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One table that is copied in parts, by all workers at once. */
class RangedCopyIT {

    /** Above 32 MB of heap: two parts at least. A row costs more than its bytes, so in a short run few wide ones make them up. */
    private static final int ROWS = RunOptions.number(50_000, 2_000_000);

    private static final String FILLER = "repeat('x', " + RunOptions.number(700, 60) + ")";

    /** For what is seen only while rows are on their way. */
    private static final int NARROW_ROWS = RunOptions.number(400_000, 2_000_000);

    private static DatabasePair bigTable(String key) {
        return bigTable(18, key, ROWS, FILLER);
    }

    private static DatabasePair narrowTable(int publisherVersion, String key) {
        return bigTable(publisherVersion, key, NARROW_ROWS, "repeat('x', 60)");
    }

    private static DatabasePair bigTable(int publisherVersion, String key, int rows, String filler) {
        DatabasePair pair = DatabasePair.shared(publisherVersion, 18);
        pair.onBoth("CREATE TABLE big (id int " + key + ", v text)").publish("big");
        pair.publisher()
                .execute("INSERT INTO big SELECT g, g || " + filler + " FROM generate_series(1, " + rows + ") g");
        return pair;
    }

    private static SubscriptionRow run(DatabasePair pair) {
        try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            return start.run();
        }
    }

    private static String state(DatabasePair pair) {
        return String.valueOf(pair.target().value("SELECT state::text FROM pgapply.subscription_rel"));
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void one_large_table_keeps_all_workers_busy_and_is_the_same(int publisherVersion) throws Exception {
        RunOptions.takenByLongRunOnly(publisherVersion < 18);
        try (DatabasePair pair = narrowTable(publisherVersion, "PRIMARY KEY");
                FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            long begun = System.nanoTime();
            CompletableFuture<SubscriptionRow> running = start.runAside();
            Wait.until("two sessions to copy one table", () -> {
                assertThat(running).isNotDone();
                return pair.target().number("SELECT count(*) FROM pg_stat_progress_copy WHERE relid = 'big'::regclass")
                        == 2;
            });

            assertThat(running.get(120, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);

            System.out.printf("%d rows copied in %d ms%n", NARROW_ROWS, (System.nanoTime() - begun) / 1_000_000);
            TableComparison.of(pair).assertSame("big");
            assertThat(state(pair)).isEqualTo("s");
            assertThat(pair.target().number("SELECT rows_copied FROM pgapply.subscription_rel"))
                    .isEqualTo(NARROW_ROWS);
        }
    }

    @Test
    void a_table_without_a_key_is_not_doubled_by_its_parts() {
        try (DatabasePair pair = bigTable("")) {
            pair.publisher()
                    .execute(
                            "ALTER TABLE big REPLICA IDENTITY FULL",
                            "DELETE FROM big WHERE id % 3 = 0",
                            "UPDATE big SET v = 'short' WHERE id % 7 = 0");

            run(pair);

            TableComparison.of(pair).assertSame("big");
        }
    }

    @Test
    void rows_that_come_and_move_while_the_parts_are_copied_are_in_none_of_them() throws Exception {
        try (DatabasePair pair = bigTable("PRIMARY KEY");
                FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            CompletableFuture<SubscriptionRow> running = start.runAside();
            Wait.until("the copy to begin", () -> state(pair).equals("d"));
            pair.publisher()
                    .execute(
                            "INSERT INTO big SELECT g, 'new' FROM generate_series(-1000, -1) g",
                            "UPDATE big SET v = 'moved' WHERE id % 1000 = 0",
                            "DELETE FROM big WHERE id % 1000 = 1");

            running.get(120, TimeUnit.SECONDS);

            assertThat(pair.target().number("SELECT count(*) FROM big")).isEqualTo(ROWS);
            assertThat(pair.target().number("SELECT count(*) FROM big WHERE id < 0 OR v IN ('new', 'moved')"))
                    .isZero();
        }
    }

    /** The trigger lets the first parts through and stands in the way of the row with the highest id. */
    private static void gate(DatabasePair pair, int rows) {
        pair.target()
                .execute(
                        "CREATE TABLE gate (id int)",
                        "CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = "
                                + rows + " THEN PERFORM count(*) FROM public.gate; END IF; RETURN NEW; END $$",
                        "CREATE TRIGGER gate BEFORE INSERT ON big FOR EACH ROW EXECUTE FUNCTION wait_at_gate()",
                        "ALTER TABLE big ENABLE ALWAYS TRIGGER gate");
    }

    private static void awaitAllButTheLastPart(DatabasePair pair) {
        Wait.until(
                "the last part to stand at the gate, the others to be committed",
                () -> pair.target()
                                        .number(
                                                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'gate'::regclass")
                                == 1
                        && pair.target()
                                        .number(
                                                "SELECT count(*) FROM pg_stat_progress_copy WHERE datname = current_database()")
                                == 1
                        && pair.target().number("SELECT count(*) FROM big") > 0);
    }

    @Test
    void a_crash_between_two_parts_leaves_a_table_that_is_emptied_and_copied_again() throws Exception {
        try (DatabasePair pair = bigTable("")) {
            gate(pair, ROWS);
            CompletableFuture<SubscriptionRow> abandoned;
            try (Connection connection = pair.target().connect();
                    Statement lock = connection.createStatement()) {
                connection.setAutoCommit(false);
                lock.execute("LOCK TABLE gate");
                abandoned = FirstStart.of(FirstStart.options(pair)).runAside();
                awaitAllButTheLastPart(pair);
                pair.target()
                        .execute(
                                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND (application_name IN ('lock', 'control') OR application_name LIKE '%"
                                        + pair.name() + " copy')");
            }
            assertThatThrownBy(() -> abandoned.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            assertThat(state(pair)).isEqualTo("d");
            assertThat(pair.target().number("SELECT count(*) FROM big")).isBetween(1L, ROWS - 1L);
            // Without its slot it begins again.
            pair.publisher().execute("INSERT INTO big VALUES (0, 'later')");
            pair.publisher().dropSlot(pair.name());

            SubscriptionRow row = run(pair);

            assertThat(row.slotState()).isEqualTo(SlotState.READY);
            TableComparison.of(pair).assertSame("big");
            assertThat(copyOrigins(pair.target())).isZero();
        }
    }

    private static long copyOrigins(Database target) {
        return target.number("SELECT count(*) FROM pg_replication_origin WHERE roname IN (SELECT 'pgapply_' || subid"
                + " || '_copy_' || n FROM pgapply.subscription, generate_series(1, 64) n)");
    }

    @Test
    void a_table_that_is_truncated_between_two_parts_is_not_taken_for_a_smaller_one() throws Exception {
        try (DatabasePair pair = bigTable("");
                Connection connection = pair.target().connect();
                Statement lock = connection.createStatement()) {
            gate(pair, ROWS);
            connection.setAutoCommit(false);
            lock.execute("LOCK TABLE gate");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                awaitAllButTheLastPart(pair);
                CompletableFuture<Void> truncate =
                        CompletableFuture.runAsync(() -> pair.publisher().execute("TRUNCATE big"));
                Wait.until(
                        "the truncation to wait for the copy",
                        () -> pair.publisher()
                                        .number(
                                                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'big'::regclass")
                                == 1);
                connection.commit();

                running.get(60, TimeUnit.SECONDS);
                truncate.get(60, TimeUnit.SECONDS);
            }
            assertThat(pair.target().number("SELECT count(*) FROM big")).isEqualTo(ROWS);
        }
    }

    @Test
    void a_row_filter_and_a_column_list_hold_for_every_part() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE big (id int PRIMARY KEY, v text, secret text)");
            pair.publisher()
                    .execute(
                            "INSERT INTO big SELECT g, g || " + FILLER + ", 's' FROM generate_series(1, " + ROWS
                                    + ") g",
                            "CREATE PUBLICATION pb FOR TABLE big (id, v) WHERE (id % 10 = 0)");

            run(pair);

            TableComparison.of(pair).assertSameRows("SELECT id, v, NULL FROM big WHERE id % 10 = 0");
            assertThat(pair.target().number("SELECT count(*) FROM big WHERE secret IS NOT NULL OR id % 10 <> 0"))
                    .isZero();
        }
    }

    private static DatabasePair partitioned(String name) {
        DatabasePair pair = DatabasePair.shared();
        pair.publisher()
                .execute(
                        "CREATE TABLE ev (id int, d int, v text) PARTITION BY RANGE (d)",
                        "CREATE TABLE ev0 PARTITION OF ev FOR VALUES FROM (0) TO (10) PARTITION BY HASH (id)",
                        "CREATE TABLE ev0a PARTITION OF ev0 FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
                        "CREATE TABLE ev0b PARTITION OF ev0 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                        "CREATE TABLE ev1 (v text, gone int, d int, id int)",
                        "ALTER TABLE ev1 DROP COLUMN gone",
                        "ALTER TABLE ev ATTACH PARTITION ev1 FOR VALUES FROM (10) TO (20)",
                        "INSERT INTO ev SELECT g, g % 20, g || " + FILLER + " FROM generate_series(1, " + ROWS + ") g",
                        "CREATE PUBLICATION pb FOR TABLE ev WITH (publish_via_partition_root = true)");
        pair.target().execute("CREATE TABLE " + name + " (v text, id int, d int)");
        return pair;
    }

    @Test
    void a_partitioned_table_is_copied_leaf_by_leaf_to_one_table() {
        try (DatabasePair pair = partitioned("ev")) {
            run(pair);

            TableComparison.of(pair).assertSameRows("SELECT id, d, v FROM ev");
        }
    }

    @Test
    void who_may_only_read_the_root_reads_the_leaves_through_it() {
        try (DatabasePair pair = partitioned("ev")) {
            String role = RunOptions.uniqueName("engine");
            pair.publisher().execute("CREATE ROLE " + role + " LOGIN REPLICATION", "GRANT SELECT ON ev TO " + role);
            try (FirstStart start = FirstStart.of(FirstStart.options(
                    FirstStart.url(pair.publisher(), role),
                    FirstStart.url(pair.target(), null),
                    pair.name(),
                    true,
                    true,
                    List.of("pb")))) {
                SubscriptionRow unused = start.run();
            }

            TableComparison.of(pair).assertSameRows("SELECT id, d, v FROM ev");
            pair.publisher().dropSlot(pair.name());
            pair.publisher().execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }

    @Test
    void copied_rows_carry_an_origin_as_natives_do() {
        String name = RunOptions.uniqueName("it");
        var server = SharedServers.publisher(18);
        try (DatabasePair pair =
                new DatabasePair(name, server.createDatabase(name + "_p"), server.createDatabase(name + "_t"))) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE own (id int PRIMARY KEY)")
                    .publish("t");
            pair.publisher().execute("INSERT INTO t SELECT generate_series(1, 10)");
            for (String slot : List.of("all", "local")) {
                pair.target()
                        .execute("SELECT pg_create_logical_replication_slot('" + name + "_" + slot
                                + "', 'test_decoding')");
            }

            run(pair);
            // A slot shows what is flushed, and the servers commit without waiting for that.
            pair.target().execute("SET synchronous_commit = on", "INSERT INTO own VALUES (1)");

            assertThat(changes(pair, "all", "0", "public.t: INSERT")).isEqualTo(10);
            assertThat(changes(pair, "local", "1", "public.t: INSERT")).isZero();
            assertThat(changes(pair, "local", "1", "public.own: INSERT")).isEqualTo(1);
            assertThat(copyOrigins(pair.target())).isZero();
        }
    }

    private static long changes(DatabasePair pair, String slot, String onlyLocal, String like) {
        return pair.target()
                .number("SELECT count(*) FROM pg_logical_slot_peek_changes('" + pair.name() + "_" + slot
                        + "', NULL, NULL, 'only-local', '" + onlyLocal + "') WHERE data LIKE '%" + like + "%'");
    }

    @Test
    void foreign_keys_hold_at_the_end_whatever_order_the_tables_and_parts_come_in() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth(
                    "CREATE TABLE parent (id int PRIMARY KEY)",
                    "CREATE TABLE big (id int PRIMARY KEY, parent int NOT NULL REFERENCES parent, v text)");
            pair.publisher()
                    .execute(
                            "INSERT INTO parent SELECT generate_series(1, 100)",
                            "INSERT INTO big SELECT g, 1 + g % 100, " + FILLER + " FROM generate_series(1, " + ROWS
                                    + ") g",
                            "ANALYZE");
            pair.publish("big", "parent");

            run(pair);

            TableComparison.of(pair).assertSame("parent", "big");
            assertThat(
                            pair.target()
                                    .number(
                                            "SELECT count(*) FROM big b WHERE NOT EXISTS (SELECT FROM parent p WHERE p.id = b.parent)"))
                    .isZero();
        }
    }

    @Test
    void progress_counts_the_parts_together() throws Exception {
        try (DatabasePair pair = bigTable("");
                Connection connection = pair.target().connect();
                Statement lock = connection.createStatement()) {
            pair.publisher().execute("ANALYZE big");
            gate(pair, ROWS);
            connection.setAutoCommit(false);
            lock.execute("LOCK TABLE gate");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                awaitAllButTheLastPart(pair);
                long committed = pair.target().number("SELECT count(*) FROM big");

                var shown = start.stats().tables().get(0);
                assertThat(shown.state()).isEqualTo('d');
                assertThat(shown.rowsCopied()).isBetween(committed, (long) ROWS);
                assertThat(shown.rowsEstimated()).isBetween(ROWS / 2L, ROWS * 2L);
                assertThat(shown.copying()).isPositive();

                connection.commit();
                running.get(60, TimeUnit.SECONDS);
                var done = start.stats().tables().get(0);
                assertThat(done.rowsCopied()).isEqualTo(ROWS);
                assertThat(done.remaining()).isEqualTo(Duration.ZERO);
            }
        }
    }

    /** Case N01, and the same for a table that is redone. */
    @Test
    void n01_every_change_that_writers_make_around_the_snapshot_is_there_once() throws Exception {
        long seed = RunOptions.seed();
        System.out.println("RangedCopyIT: seed " + seed);
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth(HammeringWriters.definitions("n01")).publish("n01", "n01log");
        // Wide enough for several parts.
        pair.publisher()
                .execute("INSERT INTO n01 SELECT g, 0, repeat('x', 1000) FROM generate_series(1, "
                        + RunOptions.number(50_000, 300_000) + ") g");
        try (HammeringWriters writers = HammeringWriters.start(pair.publisher(), 6, seed, "n01");
                Connection early = pair.publisher().connect();
                Statement committed = early.createStatement();
                Connection other = pair.publisher().connect();
                Statement rolledBack = other.createStatement()) {
            early.setAutoCommit(false);
            committed.execute("INSERT INTO n01log SELECT -1, g FROM generate_series(1, 500) g");
            other.setAutoCommit(false);
            rolledBack.execute("INSERT INTO n01log SELECT -2, g FROM generate_series(1, 500) g");
            writers.awaitTransactions(50);
            try (SyncedEngine engine = SyncedEngine.launch(pair, UnaryOperator.identity())) {
                engine.process().awaitStatus("waiting_for_slot");
                writers.awaitTransactions(50);
                early.commit();
                other.rollback();
                awaitTwoParts(pair);
                engine.awaitState("sr", "n01", "n01log");
                writers.awaitTransactions(50);
                engine.process().awaitStatus("catching_up", "streaming");
                engine.requireResync("public.n01");
                awaitTwoParts(pair);
                engine.awaitState("sr", "n01");
                writers.awaitTransactions(50);
                writers.close();
                engine.awaitSame("n01", "n01log");
                assertThat(pair.target().number("SELECT count(*) FROM n01log WHERE id = -1"))
                        .isEqualTo(500);
                assertThat(engine.process().log()).doesNotContain("ERROR", "could not");
            }
        }
    }

    private static void awaitTwoParts(DatabasePair pair) {
        Wait.until(
                "parts of one table to be copied at a time",
                () -> pair.target().number("SELECT count(*) FROM pg_stat_progress_copy WHERE relid = 'n01'::regclass")
                        == 2);
    }
}
