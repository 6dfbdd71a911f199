package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads as what each table is published. Owned by the thread that owns the connection.
 */
public final class PublishedMemberships {

    /** From here on a publication may be of all tables in a schema. */
    private static final int FIRST_MAJOR_WITH_SCHEMAS = 15;

    private final Connection connection;
    private final int major;

    public PublishedMemberships(Connection connection, int major) {
        this.connection = connection;
        this.major = major;
    }

    /** Every table that the publications send, by its name. */
    public Map<QualifiedName, Publishing> read(Iterable<PublishedTable> tables, String[] publications) {
        Map<Integer, QualifiedName> names = new HashMap<>();
        tables.forEach(table -> names.put(table.oid().value(), table.name()));
        String schemas = "SELECT t.oid, 'n' || m.oid FROM tables t JOIN pg_publication_namespace m ON m.pnnspid IN"
                + " (SELECT c.relnamespace FROM pg_class c WHERE c.oid = ANY (t.family))"
                + " JOIN published p ON p.oid = m.pnpubid UNION ALL ";
        String sql = "WITH published AS (SELECT oid, puballtables FROM pg_publication WHERE pubname = ANY (?)),"
                + " tables AS (SELECT c.oid, ARRAY(SELECT c.oid UNION SELECT relid FROM pg_partition_ancestors(c.oid) a(relid)) AS family"
                + " FROM pg_class c WHERE c.oid = ANY (?::oid[])),"
                + " memberships(relid, membership) AS ("
                + "SELECT t.oid, 'r' || m.oid FROM tables t JOIN pg_publication_rel m ON m.prrelid = ANY (t.family)"
                + " JOIN published p ON p.oid = m.prpubid UNION ALL "
                + (major >= FIRST_MAJOR_WITH_SCHEMAS ? schemas : "")
                + "SELECT t.oid, 'p' || p.oid FROM tables t JOIN published p ON p.puballtables)"
                + " SELECT relid::bigint, array_agg(membership) FROM memberships GROUP BY relid";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", publications));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text",
                            names.keySet().stream()
                                    .map(Integer::toUnsignedString)
                                    .toArray()));
            Map<QualifiedName, Publishing> found = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    int oid = (int) row.getLong(1);
                    QualifiedName name = names.get(oid);
                    if (name != null) {
                        found.put(name, new Publishing(new Oid(oid), texts(row.getArray(2))));
                    }
                }
            }
            return found;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read as what the tables are published", e);
        }
    }

    private static Set<String> texts(Array array) throws SQLException {
        return new TreeSet<>(Arrays.asList((String[]) array.getArray()));
    }
}
