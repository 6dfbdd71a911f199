package dev.pgapply.worker.preflight;

import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions to a server's catalogs, each with the answer as text. Stateless. */
final class CatalogQuestions {

    private CatalogQuestions() {}

    /** The rows of a query as text. */
    static List<List<@Nullable String>> query(Connection connection, String sql, Object... arguments) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof Collection<?> list) {
                    statement.setArray(i + 1, connection.createArrayOf("text", list.toArray()));
                } else {
                    statement.setObject(i + 1, arguments[i]);
                }
            }
            try (ResultSet row = statement.executeQuery()) {
                List<List<@Nullable String>> rows = new ArrayList<>();
                int columns = row.getMetaData().getColumnCount();
                while (row.next()) {
                    List<@Nullable String> values = new ArrayList<>();
                    for (int column = 1; column <= columns; column++) {
                        values.add(row.getString(column));
                    }
                    rows.add(values);
                }
                return rows;
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("", e);
        }
    }

    /** The one value of a query; empty for NULL. */
    static String value(Connection connection, String sql, Object... arguments) {
        String value = query(connection, sql, arguments).get(0).get(0);
        return value == null ? "" : value;
    }

    static boolean isTrue(Connection connection, String sql, Object... arguments) {
        return value(connection, sql, arguments).equals("t");
    }

    static String role(Connection connection) {
        return value(connection, "SELECT current_user");
    }
}
