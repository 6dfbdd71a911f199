package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.schema.PublisherSchema;
import dev.pgapply.worker.schema.SequenceDefinition;
import dev.pgapply.worker.schema.TableDefinition;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads how tables of the publisher are made. Every name in an expression comes out qualified, because the session's search_path is empty
 * (ruleutils.c). It changes nothing and asks for no right but to read the catalogs. Owned by the thread that owns the connection.
 */
public final class SchemaReader {

    private static final String SEQUENCES = """
            SELECT n.nspname, s.relname, format_type(q.seqtypid, NULL), q.seqstart, q.seqincrement, q.seqmin, q.seqmax,
                q.seqcache, q.seqcycle, tn.nspname, t.relname, a.attname, coalesce(o.deptype = 'i', false)
            FROM pg_sequence q JOIN pg_class s ON s.oid = q.seqrelid JOIN pg_namespace n ON n.oid = s.relnamespace
            LEFT JOIN pg_depend o ON o.classid = 'pg_class'::regclass AND o.objid = s.oid
                AND o.refclassid = 'pg_class'::regclass AND o.refobjsubid > 0 AND o.deptype IN ('a', 'i')
            LEFT JOIN pg_class t ON t.oid = o.refobjid
            LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
            LEFT JOIN pg_attribute a ON a.attrelid = o.refobjid AND a.attnum = o.refobjsubid
            WHERE o.refobjid = ANY (?::oid[]) OR s.oid IN (
                SELECT d.refobjid FROM pg_attrdef e JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
                    AND d.refclassid = 'pg_class'::regclass
                WHERE e.adrelid = ANY (?::oid[]))
            ORDER BY n.nspname, s.relname
            """;

    private static final String PARTITIONS = """
            SELECT DISTINCT p.relid::oid::bigint, n.nspname, c.relname
            FROM unnest(?::oid[]) t(oid) CROSS JOIN LATERAL pg_partition_tree(t.oid) p
            JOIN pg_class c ON c.oid = p.relid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p')
            """;

    private final Connection connection;
    private final int major;

    /** @param connection with an empty search_path */
    public SchemaReader(Connection connection, int major) {
        this.connection = connection;
        this.major = major;
    }

    /** The tables with all that they are made of, and the types and sequences that they use. */
    public PublisherSchema read(Collection<Oid> tables) {
        try {
            List<TableDefinition> definitions = new TableReader(connection, major).read(tables);
            return new PublisherSchema(
                    definitions,
                    new TypeReader(connection).read(tables),
                    CatalogRows.query(connection, SEQUENCES, tables, SchemaReader::sequence));
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static SequenceDefinition sequence(ResultSet row) throws SQLException {
        return new SequenceDefinition(
                CatalogRows.requiredName(row, 1, 2),
                row.getString(3),
                row.getLong(4),
                row.getLong(5),
                row.getLong(6),
                row.getLong(7),
                row.getLong(8),
                row.getBoolean(9),
                CatalogRows.name(row, 10, 11),
                row.getString(12),
                row.getBoolean(13));
    }

    /** Those of the names that the publisher has as tables. */
    public Map<Oid, QualifiedName> find(Collection<QualifiedName> names) {
        String sql = "SELECT c.oid::bigint, n.nspname, c.relname FROM unnest(?::text[], ?::text[]) w(schema, name)"
                + " JOIN pg_namespace n ON n.nspname = w.schema"
                + " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name AND c.relkind IN ('r', 'p')";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", names.stream().map(QualifiedName::schema).toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text", names.stream().map(QualifiedName::name).toArray()));
            return tables(statement);
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static Map<Oid, QualifiedName> tables(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            Map<Oid, QualifiedName> tables = new LinkedHashMap<>();
            while (row.next()) {
                tables.put(CatalogRows.oid(row, 1), CatalogRows.requiredName(row, 2, 3));
            }
            return tables;
        }
    }

    /** The partitions of partitioned tables at every level, with the tables themselves. */
    public Map<Oid, QualifiedName> partitions(Collection<Oid> tables) {
        try {
            Map<Oid, QualifiedName> partitions = new LinkedHashMap<>();
            CatalogRows.forEach(
                    connection,
                    PARTITIONS,
                    tables,
                    row -> partitions.put(CatalogRows.oid(row, 1), CatalogRows.requiredName(row, 2, 3)));
            return partitions;
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /** The partitioned tables above partitions that are published because those are. */
    public Map<Oid, QualifiedName> publishedRoots(Collection<Oid> tables, List<String> publications) {
        String schemas = major >= 15
                ? " OR EXISTS (SELECT FROM pg_publication_namespace s WHERE s.pnpubid = p.oid AND s.pnnspid = u.relnamespace)"
                : "";
        String sql = "SELECT DISTINCT c.oid::bigint, n.nspname, c.relname"
                + " FROM unnest(?::oid[]) t(oid) CROSS JOIN LATERAL pg_partition_ancestors(t.oid) a(relid)"
                + " JOIN pg_class c ON c.oid = a.relid JOIN pg_namespace n ON n.oid = c.relnamespace"
                + " WHERE c.oid <> t.oid AND EXISTS (SELECT FROM pg_publication p,"
                + " pg_partition_ancestors(c.oid) b(relid) JOIN pg_class u ON u.oid = b.relid"
                + " WHERE p.pubname = ANY (?) AND (p.puballtables"
                + " OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = u.oid)"
                + schemas
                + "))";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", tables.stream().map(Oid::toString).toArray()));
            statement.setArray(2, connection.createArrayOf("text", publications.toArray()));
            return tables(statement);
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static ApplyException failed(SQLException e) {
        return PostgresErrors.translate("could not read the definitions of the published tables", e);
    }
}
