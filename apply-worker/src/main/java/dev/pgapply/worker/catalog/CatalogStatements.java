package dev.pgapply.worker.catalog;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import org.jspecify.annotations.Nullable;

/** How the catalog's classes run a statement. */
final class CatalogStatements {

    private CatalogStatements() {}

    static @Nullable Lsn lsn(@Nullable String text) {
        return text == null ? null : Lsn.parse(text);
    }

    static int update(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, arguments)) {
            return statement.executeUpdate();
        }
    }

    static PreparedStatement prepare(Connection connection, String sql, @Nullable Object... arguments)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < arguments.length; i++) {
            Object argument = arguments[i];
            if (argument == null) {
                statement.setNull(i + 1, Types.VARCHAR);
            } else {
                statement.setObject(i + 1, argument);
            }
        }
        return statement;
    }

    static <T extends @Nullable Object> T run(String action, DurableTransaction.Work<T> work) {
        try {
            return work.run();
        } catch (SQLException e) {
            throw PostgresErrors.translate(action, e);
        }
    }
}
