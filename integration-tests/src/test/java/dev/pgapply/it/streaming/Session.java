package dev.pgapply.it.streaming;

import dev.pgapply.it.support.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** One transaction of a publisher's client, step by step. Owned by its test's thread. */
final class Session implements AutoCloseable {

    private final Connection connection;
    private final long xid;

    /** Begins the transaction, and has it get its xid. */
    Session(Database database) {
        connection = database.connect();
        try {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement();
                    ResultSet result =
                            statement.executeQuery("SELECT pg_current_xact_id()::text::bigint % 4294967296")) {
                result.next();
                xid = result.getLong(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The toplevel xid, without its epoch, as a publisher sends it. */
    long xid() {
        return xid;
    }

    Session execute(String... statements) {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    void commit() {
        execute("COMMIT");
    }

    void rollback() {
        execute("ROLLBACK");
    }

    /** Ends the connection, and with it a transaction that is open. */
    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Subtransactions that each insert and update a row of table sub, every second one of which is rolled back. */
    static String subtransactionsHalfUndone(int count) {
        return """
                DO $$ BEGIN
                  FOR i IN 1..%d LOOP
                    BEGIN
                      INSERT INTO sub VALUES (1000 + i, repeat('s', 100));
                      UPDATE sub SET v = 'seen ' || i WHERE id = 1 + i %% 100;
                      IF i %% 2 = 0 THEN RAISE EXCEPTION 'undo'; END IF;
                    EXCEPTION WHEN raise_exception THEN NULL;
                    END;
                  END LOOP;
                END $$""".formatted(count);
    }
}
