package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions that begin before a table is held and end after, in the forms that they can come in. */
class HeldTransactionsIT {

    private static final int ROWS = 5_000;

    private static DatabasePair table() {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)", "CREATE TABLE other(id int PRIMARY KEY, v text)")
                .publish("t", "other");
        pair.publisher()
                .execute(
                        "INSERT INTO t SELECT g, 'row' FROM generate_series(1, " + ROWS + ") g",
                        "ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
        Gate.prepare(pair.target(), "t", 4_000);
        return pair;
    }

    /** More than 64 kB of each table, so that it is streamed. */
    private static void much(Statement statement, int from) throws SQLException {
        for (String table : new String[] {"t", "other"}) {
            statement.execute("INSERT INTO " + table + " SELECT g, repeat('s', 200) FROM generate_series(" + from + ", "
                    + (from + 1_500) + ") g");
        }
        statement.execute("UPDATE t SET v = 'by " + from + "' WHERE id % 7 = 0");
        statement.execute("SAVEPOINT s");
        statement.execute("DELETE FROM t WHERE id % 11 = 0");
        statement.execute("ROLLBACK TO s");
        statement.execute("DELETE FROM t WHERE id % 13 = 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "parallel"})
    void a_streamed_transaction_from_before_the_hold_is_whole_at_the_end(String streaming) throws SQLException {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair, "streaming", streaming);
                Connection early = pair.publisher().connect();
                Statement statement = early.createStatement()) {
            early.setAutoCommit(false);
            much(statement, 10_000);
            Wait.until(
                    "the transaction to be streamed",
                    () -> !engine.process()
                            .rest()
                            .subscription(pair.name(), "streams")
                            .isEmpty());
            try (Gate gate = Gate.closed(pair.target())) {
                engine.requireResync("public.t");
                if (streaming.equals("on")) {
                    // The slot of the copy waits for the transaction; it ends while the table is held.
                    engine.awaitHeld();
                }
                statement.execute("INSERT INTO t SELECT g, 'late' FROM generate_series(20000, 20100) g");
                early.commit();
                gate.awaitCopy();
                pair.publisher().execute("UPDATE t SET v = 'while held' WHERE id = 4001");
            }

            engine.awaitState("r", "t");
            engine.awaitSame("t", "other");
        }
    }

    @Test
    void a_streamed_transaction_that_ends_while_the_rows_are_copied_is_replayed_from_what_was_held()
            throws SQLException {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair, "streaming", "on");
                Gate gate = Gate.closed(pair.target());
                Connection during = pair.publisher().connect();
                Statement statement = during.createStatement()) {
            engine.requireResync("public.t");
            gate.awaitCopy();
            during.setAutoCommit(false);
            much(statement, 10_000);
            during.commit();
            pair.publisher()
                    .execute("UPDATE t SET id = id + 100000 WHERE id % 17 = 0", "DELETE FROM t WHERE id % 19 = 0");
            engine.process().awaitCaughtUp();
            assertThat(engine.state("t")).isEqualTo("d");
            gate.close();

            engine.awaitState("r", "t");
            engine.awaitSame("t", "other");
        }
    }

    @Test
    void a_prepared_transaction_from_before_the_hold_is_applied_at_its_end() {
        DatabasePair pair = table();
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            String gid = pair.name() + "_p";
            pair.publisher()
                    .transaction(
                            "INSERT INTO t VALUES (-1, 'prepared')",
                            "UPDATE t SET v = 'prepared' WHERE id < 100",
                            "PREPARE TRANSACTION '" + gid + "'");
            engine.requireResync("public.t");
            engine.awaitHeld();
            // The slot of the copy waits for prepared transactions, too.
            assertThat(engine.state("t")).isEqualTo("d");

            pair.publisher().execute("COMMIT PREPARED '" + gid + "'");

            engine.awaitState("r", "t");
            engine.awaitSame("t");
            assertThat(pair.target().number("SELECT count(*) FROM t WHERE v = 'prepared'"))
                    .isEqualTo(100);
        }
    }
}
