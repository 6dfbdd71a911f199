package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** A copy beside the stream that is broken off: what it leaves, and what comes after it. */
class AddedTableBrokenOffIT {

    private static final String SLOTS =
            "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()";

    private static DatabasePair table() {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)", "CREATE TABLE busy(id int)")
                .publish("t");
        pair.publisher().execute("INSERT INTO t SELECT g, repeat('t', 50) FROM generate_series(1, 20000) g");
        Gate.prepare(pair.target(), "t", 15_000);
        return pair;
    }

    private static void awaitTemporarySlot(DatabasePair pair) {
        Wait.until(
                "the copy's slot to be in the making",
                () -> pair.publisher().number("SELECT count(*) FROM (" + SLOTS + " AND temporary) s") == 1);
    }

    /** A resync whose slot waits for the statement's transaction. */
    private static void resyncHeldUpBy(Statement open, SyncedEngine engine, DatabasePair pair) throws SQLException {
        open.execute("INSERT INTO busy VALUES (1)");
        engine.requireResync("public.t");
        awaitTemporarySlot(pair);
    }

    @Test
    void sigterm_in_the_middle_of_a_copy_leaves_nothing_and_the_next_start_redoes_it() {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            try (Gate gate = Gate.closed(pair.target())) {
                engine.requireResync("public.t");
                gate.awaitCopy();

                engine.process().stop();

                assertThat(pair.publisher().column(SLOTS)).containsExactly(pair.name());
                assertThat(engine.spoolFiles()).isEmpty();
            }
            pair.publisher().execute("UPDATE t SET v = 'meanwhile' WHERE id % 3 = 0");
            engine.process().start();
            engine.awaitState("r", "t");
            engine.awaitSame("t");
        }
    }

    @Test
    void a_kill_while_the_slot_is_in_the_making_leaves_no_walsender_to_the_next_start() throws SQLException {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair, EngineProcess.Builder::ownProcess);
                Connection waited = pair.publisher().connect();
                Statement open = waited.createStatement()) {
            waited.setAutoCommit(false);
            resyncHeldUpBy(open, engine, pair);

            engine.killAndStart();

            engine.process().awaitStreaming();
            awaitTemporarySlot(pair);
            // The main walsender and the new copy's; the killed engine's is gone.
            Wait.until(
                    "two walsenders",
                    () -> pair.publisher()
                                    .number("SELECT count(*) FROM pg_stat_replication WHERE application_name = '"
                                            + pair.name() + "'")
                            == 2);
            waited.commit();
            engine.awaitState("r", "t");
            engine.awaitSame("t");
        }
    }

    @Test
    void a_drop_after_a_kill_in_the_middle_of_a_copy_leaves_no_slot_and_no_state() throws SQLException {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair, EngineProcess.Builder::ownProcess);
                Connection waited = pair.publisher().connect();
                Statement open = waited.createStatement()) {
            waited.setAutoCommit(false);
            resyncHeldUpBy(open, engine, pair);
            engine.process().killNine();

            EngineCommand drop = EngineCommand.run(
                    "drop", "-c", engine.process().config().file().toString(), pair.name());

            assertThat(drop.exit()).as(drop.output()).isZero();
            Wait.until(
                    "no slot to be left", () -> pair.publisher().column(SLOTS).isEmpty());
            assertThat(pair.target().number("SELECT count(*) FROM pgapply.subscription_rel"))
                    .isZero();
            waited.rollback();
            // A subscription of that name is made anew, and finds nothing of the old one in its folder.
            pair.target().execute("TRUNCATE t");
            engine.process().start();
            engine.process().awaitStreaming();
            engine.awaitSame("t");
        }
    }

    @Test
    void a_target_that_restarts_in_the_middle_of_a_copy_has_the_table_redone() {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair);
                Gate gate = Gate.closed(pair.target())) {
            engine.requireResync("public.t");
            gate.awaitCopy();

            pair.target()
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND application_name LIKE 'pgapply %'");

            pair.publisher().execute("DELETE FROM t WHERE id % 5 = 0");
            gate.close();
            engine.awaitState("r", "t");
            engine.awaitSame("t");
        }
    }
}
