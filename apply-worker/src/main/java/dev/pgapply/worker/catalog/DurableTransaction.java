package dev.pgapply.worker.catalog;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A transaction of its own whose commit is durable when it returns, whatever the role's or the database's synchronous_commit says. */
final class DurableTransaction {

    @FunctionalInterface
    interface Work<T> {
        T run() throws SQLException;
    }

    private DurableTransaction() {}

    /** @param connection in autocommit mode, before and after */
    static <T> T commit(Connection connection, Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        try {
            try (Statement statement = connection.createStatement()) {
                // Read committed: behind a lock, each statement must see what the lock's last holder committed.
                statement.execute(
                        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on");
            }
            T result = work.run();
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException e) {
            try {
                connection.rollback();
            } catch (SQLException second) {
                e.addSuppressed(second);
            }
            throw e;
        } finally {
            if (!connection.isClosed()) {
                connection.setAutoCommit(true);
            }
        }
    }
}
