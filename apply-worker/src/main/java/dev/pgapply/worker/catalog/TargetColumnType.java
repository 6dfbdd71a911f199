package dev.pgapply.worker.catalog;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The type of a column of a target table; read for many tables at once, where a description of each would take a round trip a table.
 *
 * @param enumType whether the type is an enum
 * @param generated whether the column is computed, so that no value is applied to it
 */
public record TargetColumnType(Oid type, boolean enumType, boolean generated) {

    /** The columns by name, of those of the tables that exist. */
    static Map<QualifiedName, Map<String, TargetColumnType>> read(
            Connection connection, Collection<QualifiedName> tables) {
        String sql = "SELECT n.nspname, c.relname, a.attname, a.atttypid::bigint, t.typtype = 'e', a.attgenerated <> ''"
                + " FROM unnest(?::text[], ?::text[]) AS w(schema, name)"
                + " JOIN pg_namespace n ON n.nspname = w.schema"
                + " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name"
                + " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
                + " JOIN pg_type t ON t.oid = a.atttypid";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", tables.stream().map(QualifiedName::schema).toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text", tables.stream().map(QualifiedName::name).toArray()));
            Map<QualifiedName, Map<String, TargetColumnType>> columns = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    columns.computeIfAbsent(
                                    new QualifiedName(row.getString(1), row.getString(2)), name -> new HashMap<>())
                            .put(
                                    row.getString(3),
                                    new TargetColumnType(
                                            new Oid((int) row.getLong(4)), row.getBoolean(5), row.getBoolean(6)));
                }
            }
            return columns;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the target's columns", e);
        }
    }
}
