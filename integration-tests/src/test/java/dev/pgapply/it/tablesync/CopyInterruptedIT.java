package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A first start that does not get to its end, and the one that comes after it. */
class CopyInterruptedIT {

    private static final String SLOTS =
            "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()";

    /** Where a row of table big stands in the way of its copy for as long as somebody holds the lock on table gate. */
    private static final String GATE = """
            CREATE TABLE gate (id int);
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.id = 5000 THEN PERFORM count(*) FROM public.gate; END IF; RETURN NEW; END $$;
            CREATE TRIGGER gate BEFORE INSERT ON big FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
            ALTER TABLE big ENABLE ALWAYS TRIGGER gate;
            """;

    private static DatabasePair twoTables() {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth("CREATE TABLE small (v text)", "CREATE TABLE big (id int, v text)")
                .publish("small", "big");
        pair.publisher()
                .execute(
                        "INSERT INTO small SELECT 'r' || g % 10 FROM generate_series(1, 100) g",
                        "INSERT INTO big SELECT g, repeat('x', 100) FROM generate_series(1, 20000) g");
        pair.target().execute(GATE);
        return pair;
    }

    /** Holds table gate until it is closed. */
    private static final class Gate implements AutoCloseable {
        private final Connection connection;

        Gate(Database target) throws SQLException {
            connection = target.connect();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("LOCK TABLE gate");
            }
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    private static void awaitCopyAtGate(DatabasePair pair) {
        Wait.until(
                "the copy of big to stand at the gate, small to be done",
                () -> pair.target()
                                        .number(
                                                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'gate'::regclass")
                                == 1
                        && pair.target().number("SELECT count(*) FROM small") == 100);
    }

    @Test
    void after_a_copy_that_was_abandoned_in_the_middle_what_is_copied_stays_and_the_rest_is_left_to_the_stream()
            throws Exception {
        try (DatabasePair pair = twoTables()) {
            CompletableFuture<SubscriptionRow> abandoned;
            try (Gate unused = new Gate(pair.target())) {
                abandoned = FirstStart.of(FirstStart.options(pair)).runAside();
                awaitCopyAtGate(pair);
                abandon(pair);
            }
            assertThatThrownBy(() -> abandoned.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            assertThat(pair.target().column("SELECT slot_state FROM pgapply.subscription"))
                    .containsExactly("copying");
            Lsn point = pair.publisher().confirmedFlushLsn(pair.name());
            pair.publisher().execute("INSERT INTO small VALUES ('later')");

            SubscriptionRow row;
            try (FirstStart again = FirstStart.of(FirstStart.options(pair))) {
                row = again.run();
            }

            assertThat(row.slotState()).isEqualTo(SlotState.READY);
            assertThat(row.consistentPoint()).isEqualTo(point);
            assertThat(pair.publisher().confirmedFlushLsn(pair.name())).isEqualTo(point);
            assertThat(
                            pair.target()
                                    .column(
                                            "SELECT table_name || ' ' || state::text FROM pgapply.subscription_rel ORDER BY table_name"))
                    .containsExactly("big d", "small s");
            assertThat(pair.target().number("SELECT count(*) FROM small")).isEqualTo(100);
        }
    }

    /** The engine is gone without a word: its sessions on the target end, and nobody cleans up. */
    private static void abandon(DatabasePair pair) {
        pair.target()
                .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND (application_name IN ('lock', 'control') OR application_name LIKE '%" + pair.name()
                        + " copy')");
    }

    @Test
    void where_the_slot_is_gone_too_all_begins_again_and_what_a_foreign_key_points_to_is_emptied_all_the_same()
            throws Exception {
        try (DatabasePair pair = twoTables()) {
            pair.target()
                    .execute("ALTER TABLE small ADD PRIMARY KEY (v)", "CREATE TABLE child (v text REFERENCES small)");
            pair.publisher()
                    .execute("TRUNCATE small", "INSERT INTO small SELECT 's' || g FROM generate_series(1, 100) g");
            CompletableFuture<SubscriptionRow> abandoned;
            try (Gate unused = new Gate(pair.target())) {
                abandoned = FirstStart.of(FirstStart.options(pair)).runAside();
                awaitCopyAtGate(pair);
                abandon(pair);
            }
            assertThatThrownBy(() -> abandoned.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            pair.publisher().dropSlot(pair.name());

            try (FirstStart again = FirstStart.of(FirstStart.options(pair))) {
                SubscriptionRow unused = again.run();
            }

            TableComparison.of(pair).assertSame("small", "big");
        }
    }

    @Test
    void a_start_that_was_abandoned_while_it_waited_for_the_slot_leaves_no_walsender_behind() throws Exception {
        try (DatabasePair pair = DatabasePair.shared();
                Connection blocking = pair.publisher().connect();
                Statement open = blocking.createStatement()) {
            pair.onBoth("CREATE TABLE t (id int)").publish("t");
            blocking.setAutoCommit(false);
            open.execute("INSERT INTO t VALUES (1)");
            FirstStart abandoned = FirstStart.of(FirstStart.options(pair));
            CompletableFuture<SubscriptionRow> waiting = abandoned.runAside();
            Wait.until(
                    "status waiting_for_slot", () -> abandoned.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);
            abandon(pair);

            try (FirstStart again = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = again.runAside();
                Wait.until(
                        "status waiting_for_slot", () -> again.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);
                assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
                assertThat(pair.publisher()
                                .number("SELECT count(*) FROM pg_stat_replication WHERE application_name = '"
                                        + pair.name() + "'"))
                        .isEqualTo(1);
                blocking.commit();

                assertThat(running.get(30, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);
            }
            assertThat(pair.publisher().column(SLOTS)).containsExactly(pair.name());
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
        }
    }

    @Test
    void a_publication_that_changes_while_the_slot_is_created_makes_the_start_begin_again() throws Exception {
        try (DatabasePair pair = DatabasePair.shared();
                Connection blocking = pair.publisher().connect();
                Statement open = blocking.createStatement()) {
            pair.onBoth("CREATE TABLE t (id int)", "CREATE TABLE added (id int)", "CREATE TABLE busy (id int)")
                    .publish("t");
            blocking.setAutoCommit(false);
            open.execute("INSERT INTO busy VALUES (1)");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                Wait.until(
                        "status waiting_for_slot", () -> start.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);
                pair.publisher().execute("ALTER PUBLICATION pb ADD TABLE added", "INSERT INTO added VALUES (1)");
                blocking.commit();

                assertThatThrownBy(() -> running.get(30, TimeUnit.SECONDS))
                        .cause()
                        .hasMessageContaining("the published tables changed while the slot was created");
            }
            try (FirstStart again = FirstStart.of(FirstStart.options(pair))) {
                SubscriptionRow unused = again.run();
            }

            TableComparison.of(pair).assertSame("t", "added");
        }
    }

    @Test
    void a_stop_in_the_middle_leaves_no_session_and_only_the_slot() throws Exception {
        try (DatabasePair pair = twoTables();
                Gate unused = new Gate(pair.target());
                FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            CompletableFuture<SubscriptionRow> running = start.runAside();
            awaitCopyAtGate(pair);

            start.stop();

            assertEndsWithin(running, Duration.ofSeconds(3));
            Wait.until("no session of the copy to be left", Duration.ofSeconds(3), () -> copySessions(pair) == 0);
            assertThat(pair.publisher().column(SLOTS)).containsExactly(pair.name());
        }
    }

    private static void assertEndsWithin(CompletableFuture<SubscriptionRow> running, Duration time)
            throws InterruptedException {
        try {
            running.get(time.toMillis(), TimeUnit.MILLISECONDS);
            throw new AssertionError("the copy came to its end");
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(ApplyException.class);
        } catch (TimeoutException e) {
            throw new AssertionError("the copy did not stop", e);
        }
    }

    private static long copySessions(DatabasePair pair) {
        String sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name IN ('" + pair.name() + "', 'pgapply "
                + pair.name() + " copy')";
        return pair.publisher().number(sql) + pair.target().number(sql);
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void a_transaction_that_holds_up_the_slot_is_named_and_a_stop_leaves_no_slot(int version) throws Exception {
        try (DatabasePair pair = DatabasePair.shared(version, 18);
                Connection blocking = pair.publisher().connect();
                Statement open = blocking.createStatement()) {
            pair.onBoth("CREATE TABLE t (id int)").publish("t");
            blocking.setAutoCommit(false);
            open.execute("INSERT INTO t VALUES (1)");
            int pid = Integer.parseInt(String.valueOf(pidOf(open)));
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                Wait.until(
                        "status waiting_for_slot", () -> start.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);
                assertThat(start.stats().statusReason())
                        .contains("of pid " + pid + " before the slot can be created")
                        .contains("user \"postgres\"");

                start.stop();

                assertEndsWithin(running, Duration.ofSeconds(3));
            }
            Wait.until("no session of the copy to be left", Duration.ofSeconds(3), () -> copySessions(pair) == 0);
            assertThat(pair.publisher().column(SLOTS)).isEmpty();
        }
    }

    private static String pidOf(Statement statement) throws SQLException {
        try (var row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void the_slot_is_created_once_the_transaction_before_it_has_ended() throws Exception {
        try (DatabasePair pair = DatabasePair.shared();
                Connection blocking = pair.publisher().connect();
                Statement open = blocking.createStatement()) {
            pair.onBoth("CREATE TABLE t (id int)").publish("t");
            blocking.setAutoCommit(false);
            open.execute("INSERT INTO t VALUES (1)");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                Wait.until(
                        "status waiting_for_slot", () -> start.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);

                blocking.commit();

                assertThat(running.get(30, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);
                assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
            }
        }
    }

    @Test
    void a_table_that_is_truncated_before_its_turn_is_not_taken_for_an_empty_one() throws Exception {
        try (DatabasePair pair = twoTables()) {
            pair.onBoth("CREATE TABLE big2 (LIKE big)", "CREATE TABLE late (id int)");
            pair.target()
                    .execute(
                            "CREATE TRIGGER gate BEFORE INSERT ON big2 FOR EACH ROW EXECUTE FUNCTION wait_at_gate()",
                            "ALTER TABLE big2 ENABLE ALWAYS TRIGGER gate");
            pair.publisher()
                    .execute(
                            "INSERT INTO big2 SELECT * FROM big",
                            "INSERT INTO late VALUES (1)",
                            "ALTER PUBLICATION pb ADD TABLE big2, late");
            CompletableFuture<SubscriptionRow> running;
            // Two workers, both held up by the largest tables; the small ones have not had their turn.
            try (Gate unused = new Gate(pair.target());
                    FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                running = start.runAside();
                Wait.until(
                        "both workers to stand at the gate",
                        () -> pair.target()
                                        .number(
                                                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'gate'::regclass")
                                == 2);
                pair.publisher().execute("TRUNCATE late");
                unused.close();

                assertThat(running.get(30, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);
            }

            TableComparison.of(pair).assertSame("small", "big", "big2");
            assertThat(
                            pair.target()
                                    .value(
                                            "SELECT state::text || ' ' || error FROM pgapply.subscription_rel WHERE table_name = 'late'"))
                    .asString()
                    .startsWith("d could not copy table \"public.late\": ")
                    .contains("truncated");
        }
    }

    /** The copy's gate, for n02 by a mark among its rows, for n02k by its key: at 10, 50 or 90 %. */
    private static void moveGates(Database target, int rows, int percent) {
        target.execute(
                "DROP TRIGGER IF EXISTS gate ON n02",
                "DROP TRIGGER IF EXISTS gate ON n02k",
                "CREATE TRIGGER gate BEFORE INSERT ON n02 FOR EACH ROW WHEN (NEW.v = 'mark" + percent
                        + "') EXECUTE FUNCTION wait_at_gate()",
                "CREATE TRIGGER gate BEFORE INSERT ON n02k FOR EACH ROW WHEN (NEW.id = " + rows / 100 * percent
                        + ") EXECUTE FUNCTION wait_at_gate()",
                "ALTER TABLE n02 ENABLE ALWAYS TRIGGER gate",
                "ALTER TABLE n02k ENABLE ALWAYS TRIGGER gate");
    }

    private static void prepareN02(DatabasePair pair, int rows) {
        pair.onBoth(
                        "CREATE TABLE n02(v text)",
                        "CREATE TABLE n02k(id int PRIMARY KEY, v text)",
                        "CREATE TABLE done(id int PRIMARY KEY)")
                .publish("n02", "n02k", "done");
        pair.publisher()
                .execute(
                        "INSERT INTO n02 SELECT CASE WHEN g * 100 / " + rows + " IN (10, 50, 90) AND g * 100 % " + rows
                                + " = 0 THEN 'mark' || g * 100 / " + rows + " ELSE 'r' || g % 1000 END"
                                + " FROM generate_series(1, " + rows + ") g",
                        "INSERT INTO n02k SELECT g, 'k' FROM generate_series(1, " + rows + ") g",
                        "INSERT INTO done SELECT generate_series(1, 100)");
        pair.target()
                .execute(
                        "CREATE TABLE gate (id int)",
                        "CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS"
                                + " $$ BEGIN PERFORM count(*) FROM public.gate; RETURN NEW; END $$");
    }

    private static void awaitBothAtGate(DatabasePair pair) {
        Wait.until(
                "both copies to stand at the gate",
                () -> pair.target()
                                .number(
                                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'gate'::regclass")
                        == 2);
    }

    /** Case N02: killed at 10, 50 (with -Plong) and 90 % of the copy, then the publisher ends a COPY; a table that was done stays as it is. */
    @Test
    void n02_a_copy_that_is_killed_again_and_again_doubles_nothing_and_is_never_shown_as_done() throws Exception {
        int rows = RunOptions.number(20_000, 400_000);
        DatabasePair pair = DatabasePair.shared();
        prepareN02(pair, rows);
        moveGates(pair.target(), rows, 10);
        String copiedRows = "SELECT string_agg(xmin::text || ctid::text, ',' ORDER BY id) FROM done WHERE id <= 100";
        Gate gate = new Gate(pair.target());
        try (SyncedEngine engine = SyncedEngine.launch(
                pair, EngineProcess.Builder::ownProcess, "max_sync_workers_per_subscription", "3")) {
            awaitBothAtGate(pair);
            engine.awaitState("s", "done");
            Object done = pair.target().value(copiedRows);
            String point = String.valueOf(pair.target().value("SELECT consistent_point FROM pgapply.subscription"));
            for (int percent : RunOptions.longRun() ? new int[] {50, 90} : new int[] {90}) {
                assertThat(engine.state("n02") + engine.state("n02k")).isEqualTo("dd");
                engine.process().killNine();
                gate.close();
                moveGates(pair.target(), rows, percent);
                gate = new Gate(pair.target());
                pair.publisher().execute("UPDATE n02k SET v = 'while down " + percent + "' WHERE id % 7 = 0");
                engine.process().start();
                awaitBothAtGate(pair);
                pair.publisher().execute("INSERT INTO done VALUES (" + (100 + percent) + ")");
                engine.awaitSame("done");
            }
            assertThat(engine.state("n02") + engine.state("n02k")).isEqualTo("dd");
            engine.killAndStart();
            awaitBothAtGate(pair);
            pair.publisher()
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND query LIKE 'COPY%n02%'");
            gate.close();
            engine.awaitState("r", "n02", "n02k", "done");
            engine.awaitSame("n02", "n02k", "done");
            assertThat(pair.target().value(copiedRows)).isEqualTo(done);
            assertThat(engine.table("done").path("sync_lsn").asText()).isEqualTo(point);
            String size = "SELECT pg_table_size('n02')";
            assertThat(pair.target().number(size))
                    .isLessThanOrEqualTo(2 * pair.publisher().number(size));
        } finally {
            gate.close();
        }
    }

    /** Case N02: a server goes away in the middle of the copy, the publisher with the snapshot that the copy reads from. */
    @ParameterizedTest
    @ValueSource(strings = {"target", "publisher"})
    void n02_a_server_that_dies_in_the_middle_of_the_copy_doubles_and_loses_nothing(String which) throws Exception {
        int rows = RunOptions.number(20_000, 400_000);
        try (PostgresServer publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                        .durable()
                        .start();
                PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start()) {
            DatabasePair pair = DatabasePair.on(publisher, target);
            prepareN02(pair, rows);
            moveGates(pair.target(), rows, 50);
            Gate gate = new Gate(pair.target());
            try (SyncedEngine engine =
                    SyncedEngine.launch(pair, UnaryOperator.identity(), "max_sync_workers_per_subscription", "3")) {
                awaitBothAtGate(pair);
                PostgresServer dying = which.equals("target") ? target : publisher;
                dying.killNine();
                dying.start();
                pair.publisher().execute("UPDATE n02k SET v = 'after' WHERE id % 7 = 0");
                gate.close();
                engine.awaitState("r", "n02", "n02k", "done");
                engine.awaitSame("n02", "n02k", "done");
                assertThat(pair.target().number("SELECT count(*) FROM n02")).isEqualTo(rows);
            }
        }
    }
}
