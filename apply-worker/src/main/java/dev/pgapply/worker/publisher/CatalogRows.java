package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How the readers of definitions ask: a query over the tables' oids, one value for each row. */
final class CatalogRows {

    interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    interface RowTaker {
        void take(ResultSet row) throws SQLException;
    }

    private CatalogRows() {}

    static <T> List<T> query(Connection connection, String sql, Collection<Oid> oids, RowReader<T> reader)
            throws SQLException {
        List<T> values = new ArrayList<>();
        forEach(connection, sql, oids, row -> values.add(reader.read(row)));
        return values;
    }

    /** @param sql every parameter in it is the array of oids, {@code ?::oid[]} */
    static void forEach(Connection connection, String sql, Collection<Oid> oids, RowTaker taker) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Array array = connection.createArrayOf(
                    "text", oids.stream().map(Oid::toString).toArray());
            int parameters = statement.getParameterMetaData().getParameterCount();
            for (int i = 1; i <= parameters; i++) {
                statement.setArray(i, array);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    taker.take(row);
                }
            }
        }
    }

    static Oid oid(ResultSet row, int column) throws SQLException {
        return new Oid((int) row.getLong(column));
    }

    /** Null if there is none. */
    static @Nullable QualifiedName name(ResultSet row, int schema, int name) throws SQLException {
        String schemaName = row.getString(schema);
        String relation = row.getString(name);
        return schemaName == null || relation == null ? null : new QualifiedName(schemaName, relation);
    }

    static QualifiedName requiredName(ResultSet row, int schema, int name) throws SQLException {
        return new QualifiedName(row.getString(schema), row.getString(name));
    }

    /** Empty for NULL. */
    static List<String> texts(ResultSet row, int column) throws SQLException {
        Array array = row.getArray(column);
        if (array == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        for (Object text : (Object[]) array.getArray()) {
            texts.add(String.valueOf(text));
        }
        return texts;
    }
}
