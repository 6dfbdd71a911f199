package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.publisher.NeedsReader.Needs;
import dev.pgapply.worker.publisher.NeedsReader.Part;
import dev.pgapply.worker.schema.ColumnDefinition;
import dev.pgapply.worker.schema.ColumnDefinition.Generated;
import dev.pgapply.worker.schema.ColumnDefinition.Identity;
import dev.pgapply.worker.schema.ColumnDefinition.NotNull;
import dev.pgapply.worker.schema.ConstraintDefinition;
import dev.pgapply.worker.schema.ConstraintDefinition.Kind;
import dev.pgapply.worker.schema.IndexDefinition;
import dev.pgapply.worker.schema.TableDefinition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads tables with their columns, constraints and indexes. Owned by the thread that owns the connection. */
final class TableReader {

    private static final String TABLES = """
            SELECT c.oid::bigint, n.nspname, c.relname, c.relreplident::text,
                CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END,
                CASE WHEN c.relispartition THEN
                    (SELECT pg_get_partkeydef(i.inhparent) FROM pg_inherits i WHERE i.inhrelid = c.oid) END,
                CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END,
                c.reloptions,
                (SELECT array_agg(pn.nspname::text ORDER BY i.inhseqno) FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
                    JOIN pg_namespace pn ON pn.oid = p.relnamespace WHERE i.inhrelid = c.oid),
                (SELECT array_agg(p.relname::text ORDER BY i.inhseqno) FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
                    WHERE i.inhrelid = c.oid)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = ANY (?::oid[]) ORDER BY n.nspname, c.relname
            """;

    private static final String COLUMNS = """
            SELECT a.attrelid::bigint, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
                (SELECT quote_ident(n.nspname) || '.' || quote_ident(l.collname)
                    FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                    WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation),
                a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attidentity::text,
                CASE WHEN a.attstorage <> t.typstorage THEN CASE a.attstorage
                    WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END,
                o.conname, o.connoinherit, o.convalidated
            FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            LEFT JOIN pg_constraint o ON o.conrelid = a.attrelid AND o.contype = 'n' AND o.conkey[1] = a.attnum
            WHERE a.attrelid = ANY (?::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attrelid, a.attnum
            """;

    /** A partition's part of its root's foreign key comes with the root's. */
    private static final String CONSTRAINTS = """
            SELECT o.conrelid::bigint, o.oid::bigint, o.conname, o.contype::text, pg_get_constraintdef(o.oid), o.convalidated,
                coalesce(i.indisreplident, false), n.nspname, f.relname,
                (SELECT array_agg(a.attname::text) FROM pg_attribute a WHERE a.attrelid = o.conrelid AND a.attnum = ANY (o.conkey)),
                %s
            FROM pg_constraint o LEFT JOIN pg_index i ON i.indexrelid = o.conindid AND i.indrelid = o.conrelid
            LEFT JOIN pg_class f ON f.oid = o.confrelid LEFT JOIN pg_namespace n ON n.oid = f.relnamespace
            WHERE o.conrelid = ANY (?::oid[]) AND (o.contype IN ('c', 'p', 'u', 'x')
                OR o.contype = 'f' AND o.conparentid = 0 OR o.contype = 'n' AND NOT o.convalidated)
            ORDER BY o.conrelid, array_position(ARRAY['p', 'u', 'x', 'c', 'n', 'f'], o.contype::text), o.conname
            """;

    /** The text up to the table's name is left away by its length: names may hold anything. */
    private static final String INDEXES = """
            SELECT i.indrelid::bigint, i.indexrelid::bigint, x.relname, i.indisunique,
                substr(pg_get_indexdef(i.indexrelid), length('CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END
                    || 'INDEX ' || quote_ident(x.relname) || ' ON ' || CASE WHEN x.relkind = 'I' THEN 'ONLY ' ELSE '' END
                    || quote_ident(n.nspname) || '.' || quote_ident(c.relname)) + 1),
                i.indisreplident, %s
            FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE i.indrelid = ANY (?::oid[]) AND i.indisvalid AND NOT EXISTS (SELECT FROM pg_constraint o
                WHERE o.conindid = i.indexrelid AND o.conrelid = i.indrelid AND o.contype IN ('p', 'u', 'x'))
            ORDER BY i.indrelid, x.relname
            """;

    private static final int OLDEST = PublisherFacts.OLDEST_MAJOR;
    private static final int NULLS_NOT_DISTINCT = 15;
    private static final int PERIODS = 18;

    private final Connection connection;
    private final int major;

    TableReader(Connection connection, int major) {
        this.connection = connection;
        this.major = major;
    }

    List<TableDefinition> read(Collection<Oid> tables) throws SQLException {
        NeedsReader needs = NeedsReader.ofTables(connection, tables);
        Map<Oid, List<ColumnDefinition>> columns = new HashMap<>();
        CatalogRows.forEach(connection, COLUMNS, tables, row -> collect(columns, row, column(row, needs)));
        Map<Oid, List<ConstraintDefinition>> constraints = new HashMap<>();
        CatalogRows.forEach(
                connection, constraintQuery(), tables, row -> collect(constraints, row, constraint(row, needs)));
        Map<Oid, List<IndexDefinition>> indexes = new HashMap<>();
        CatalogRows.forEach(connection, indexQuery(), tables, row -> collect(indexes, row, index(row, needs)));
        return CatalogRows.query(connection, TABLES, tables, row -> {
            Oid oid = CatalogRows.oid(row, 1);
            return new TableDefinition(
                    oid,
                    CatalogRows.requiredName(row, 2, 3),
                    parents(row),
                    row.getString(5),
                    row.getString(6),
                    row.getString(7),
                    PublishedTables.replicaIdentity(row.getString(4)),
                    CatalogRows.texts(row, 8),
                    needs.of(Part.TABLE, oid, 0).objects(),
                    columns.getOrDefault(oid, List.of()),
                    constraints.getOrDefault(oid, List.of()),
                    indexes.getOrDefault(oid, List.of()));
        });
    }

    private static <T> void collect(Map<Oid, List<T>> byTable, ResultSet row, T part) throws SQLException {
        byTable.computeIfAbsent(CatalogRows.oid(row, 1), oid -> new ArrayList<>())
                .add(part);
    }

    private static List<QualifiedName> parents(ResultSet row) throws SQLException {
        List<String> schemas = CatalogRows.texts(row, 9);
        List<String> names = CatalogRows.texts(row, 10);
        List<QualifiedName> parents = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            parents.add(new QualifiedName(schemas.get(i), names.get(i)));
        }
        return parents;
    }

    /** The first version that knows what the constraint says. */
    private String constraintQuery() {
        String nulls = major >= NULLS_NOT_DISTINCT
                ? " WHEN i.indnullsnotdistinct OR o.confdelsetcols IS NOT NULL THEN 15"
                : "";
        String periods = major >= PERIODS ? " WHEN o.conperiod OR NOT o.conenforced OR o.contype = 'n' THEN 18" : "";
        return CONSTRAINTS.formatted("CASE" + periods + nulls + " WHEN false THEN 0 ELSE " + OLDEST + " END");
    }

    private String indexQuery() {
        return INDEXES.formatted(
                major >= NULLS_NOT_DISTINCT
                        ? "CASE WHEN i.indnullsnotdistinct THEN 15 ELSE " + OLDEST + " END"
                        : String.valueOf(OLDEST));
    }

    private static ColumnDefinition column(ResultSet row, NeedsReader needs) throws SQLException {
        Oid table = CatalogRows.oid(row, 1);
        int number = row.getInt(2);
        Generated generated = switch (row.getString(8)) {
            case "s" -> Generated.STORED;
            case "v" -> Generated.VIRTUAL;
            default -> Generated.NEVER;
        };
        Identity identity = switch (row.getString(9)) {
            case "a" -> Identity.ALWAYS;
            case "d" -> Identity.BY_DEFAULT;
            default -> Identity.NONE;
        };
        Needs ofColumn = needs.of(Part.COLUMN, table, number);
        Needs ofExpression = needs.of(Part.EXPRESSION, table, number);
        List<String> read = new ArrayList<>(ofExpression.columns());
        // Up to 14 a generated column itself depends on what its expression reads (heap.c, StoreAttrDefault).
        read.addAll(ofColumn.columns());
        String name = row.getString(3);
        read.removeIf(name::equals);
        return new ColumnDefinition(
                name,
                row.getString(4),
                row.getString(5),
                notNull(row),
                row.getString(7),
                generated,
                identity,
                row.getString(10),
                ofColumn.objects(),
                ofExpression.objects(),
                read);
    }

    /** A NOT NULL that is not validated comes as a constraint of the table. */
    private static @Nullable NotNull notNull(ResultSet row) throws SQLException {
        String constraint = row.getString(11);
        boolean holds = row.getBoolean(6) && (constraint == null || row.getBoolean(13));
        return holds ? new NotNull(constraint, constraint != null && row.getBoolean(12)) : null;
    }

    private static ConstraintDefinition constraint(ResultSet row, NeedsReader needs) throws SQLException {
        Oid table = CatalogRows.oid(row, 1);
        Kind kind = switch (row.getString(4)) {
            case "p" -> Kind.PRIMARY_KEY;
            case "u" -> Kind.UNIQUE;
            case "x" -> Kind.EXCLUSION;
            case "f" -> Kind.FOREIGN_KEY;
            case "n" -> Kind.NOT_NULL;
            default -> Kind.CHECK;
        };
        return new ConstraintDefinition(
                row.getString(3),
                kind,
                row.getString(5),
                CatalogRows.texts(row, 10),
                row.getBoolean(6),
                row.getBoolean(7),
                CatalogRows.name(row, 8, 9),
                row.getInt(11),
                needs.of(Part.CONSTRAINT, table, row.getLong(2)).objects());
    }

    private static IndexDefinition index(ResultSet row, NeedsReader needs) throws SQLException {
        Needs of = needs.of(Part.INDEX, CatalogRows.oid(row, 1), row.getLong(2));
        return new IndexDefinition(
                row.getString(3),
                row.getBoolean(4),
                row.getString(5),
                of.columns(),
                row.getBoolean(6),
                row.getInt(7),
                of.objects());
    }
}
