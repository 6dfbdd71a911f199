package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.publisher.NeedsReader.Part;
import dev.pgapply.worker.schema.ObjectIdentity;
import dev.pgapply.worker.schema.TypeDefinition;
import dev.pgapply.worker.schema.TypeDefinition.Composite;
import dev.pgapply.worker.schema.TypeDefinition.Domain;
import dev.pgapply.worker.schema.TypeDefinition.Enumeration;
import dev.pgapply.worker.schema.TypeDefinition.NamedDefinition;
import dev.pgapply.worker.schema.TypeDefinition.Opaque;
import dev.pgapply.worker.schema.TypeDefinition.Range;
import dev.pgapply.worker.schema.TypeDefinition.Shape;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the types that columns use, and those that these are made of. Owned by the thread that owns the connection. */
final class TypeReader {

    private static final String TYPES = """
            WITH RECURSIVE needed(oid) AS (
                SELECT a.atttypid FROM pg_attribute a
                WHERE a.attrelid = ANY (?::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
                UNION
                SELECT p.oid FROM needed d JOIN pg_type y ON y.oid = d.oid CROSS JOIN LATERAL (
                    SELECT y.typelem AS oid WHERE y.typcategory = 'A' AND y.typelem <> 0
                    UNION ALL SELECT y.typbasetype WHERE y.typtype = 'd'
                    UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE y.typtype = 'c' AND a.attrelid = y.typrelid
                        AND a.attnum > 0 AND NOT a.attisdropped
                    UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE r.rngtypid = y.oid
                    UNION ALL SELECT r.rngtypid FROM pg_range r WHERE r.rngmultitypid = y.oid) p)
            SELECT t.oid::bigint, n.nspname, t.typname, t.typtype::text, i.identity,
                (SELECT x.extname FROM pg_depend m JOIN pg_extension x ON x.oid = m.refobjid
                    WHERE m.classid = 'pg_type'::regclass AND m.objid = t.oid AND m.deptype = 'e'
                        AND m.refclassid = 'pg_extension'::regclass),
                coalesce((SELECT c.relkind FROM pg_class c WHERE c.oid = t.typrelid), 'c')::text,
                format_type(t.typbasetype, t.typtypmod),
                (SELECT quote_ident(cn.nspname) || '.' || quote_ident(l.collname)
                    FROM pg_collation l JOIN pg_namespace cn ON cn.oid = l.collnamespace
                    WHERE l.oid = t.typcollation
                        AND t.typcollation <> (SELECT b.typcollation FROM pg_type b WHERE b.oid = t.typbasetype)),
                pg_get_expr(t.typdefaultbin, 0), t.typnotnull
            FROM needed d JOIN pg_type t ON t.oid = d.oid JOIN pg_namespace n ON n.oid = t.typnamespace
            CROSS JOIN LATERAL pg_identify_object('pg_type'::regclass, t.oid, 0) i
            WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND t.typtype <> 'm'
                AND NOT (t.typcategory = 'A' AND t.typelem <> 0)
            ORDER BY n.nspname, t.typname
            """;

    private static final String LABELS = """
            SELECT e.enumtypid::bigint, e.enumlabel, '' FROM pg_enum e WHERE e.enumtypid = ANY (?::oid[])
            ORDER BY e.enumtypid, e.enumsortorder
            """;

    private static final String ATTRIBUTES = """
            SELECT t.oid::bigint, a.attname, format_type(a.atttypid, a.atttypmod) || coalesce((
                SELECT ' COLLATE ' || quote_ident(n.nspname) || '.' || quote_ident(l.collname)
                FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                WHERE l.oid = a.attcollation AND a.attcollation <> y.typcollation), '')
            FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type y ON y.oid = a.atttypid
            WHERE t.oid = ANY (?::oid[]) AND t.typtype = 'c' ORDER BY t.oid, a.attnum
            """;

    private static final String DOMAIN_CONSTRAINTS = """
            SELECT o.contypid::bigint, o.conname, pg_get_constraintdef(o.oid) FROM pg_constraint o
            WHERE o.contypid = ANY (?::oid[]) AND o.contype = 'c' ORDER BY o.contypid, o.conname
            """;

    private static final String RANGE_OPTIONS = """
            SELECT r.rngtypid::bigint, o.name, o.value FROM pg_range r CROSS JOIN LATERAL (
                SELECT 1 AS n, 'SUBTYPE' AS name, format_type(r.rngsubtype, NULL) AS value
                UNION ALL SELECT 2, 'SUBTYPE_OPCLASS', quote_ident(n.nspname) || '.' || quote_ident(c.opcname)
                    FROM pg_opclass c JOIN pg_namespace n ON n.oid = c.opcnamespace WHERE c.oid = r.rngsubopc
                UNION ALL SELECT 3, 'COLLATION', quote_ident(n.nspname) || '.' || quote_ident(l.collname)
                    FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace WHERE l.oid = r.rngcollation
                UNION ALL SELECT 4, 'SUBTYPE_DIFF', quote_ident(n.nspname) || '.' || quote_ident(f.proname)
                    FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace WHERE f.oid = r.rngsubdiff
                UNION ALL SELECT 5, 'CANONICAL', '' WHERE r.rngcanonical <> 0
                UNION ALL SELECT 6, 'MULTIRANGE_TYPE_NAME', quote_ident(n.nspname) || '.' || quote_ident(m.typname)
                    FROM pg_type m JOIN pg_namespace n ON n.oid = m.typnamespace WHERE m.oid = r.rngmultitypid) o
            WHERE r.rngtypid = ANY (?::oid[]) ORDER BY r.rngtypid, o.n
            """;

    /** A type as its catalog row has it. */
    private record Row(
            Oid oid, QualifiedName name, ObjectIdentity identity, String kind, String relkind, Domain domain) {}

    private final Connection connection;

    TypeReader(Connection connection) {
        this.connection = connection;
    }

    /** All types outside of PostgreSQL's own schemas that columns of the tables need. */
    List<TypeDefinition> read(Collection<Oid> tables) throws SQLException {
        List<Row> rows = CatalogRows.query(connection, TYPES, tables, TypeReader::row);
        List<Oid> oids = rows.stream().map(Row::oid).toList();
        NeedsReader needs = NeedsReader.ofTypes(connection, oids);
        Map<Oid, List<NamedDefinition>> parts = new HashMap<>();
        for (String sql : List.of(LABELS, ATTRIBUTES, DOMAIN_CONSTRAINTS, RANGE_OPTIONS)) {
            CatalogRows.forEach(
                    connection,
                    sql,
                    oids,
                    row -> parts.computeIfAbsent(CatalogRows.oid(row, 1), oid -> new ArrayList<>())
                            .add(new NamedDefinition(row.getString(2), row.getString(3))));
        }
        return rows.stream()
                .map(row -> new TypeDefinition(
                        row.name(),
                        row.identity(),
                        shape(row, parts.getOrDefault(row.oid(), List.of())),
                        needs.of(Part.TYPE, row.oid(), 0).objects()))
                .toList();
    }

    private static Row row(ResultSet row) throws SQLException {
        String schema = row.getString(2);
        return new Row(
                CatalogRows.oid(row, 1),
                new QualifiedName(schema, row.getString(3)),
                new ObjectIdentity("type", schema, row.getString(5), row.getString(6), null),
                row.getString(4),
                row.getString(7),
                new Domain(
                        String.valueOf(row.getString(8)),
                        row.getString(9),
                        row.getString(10),
                        row.getBoolean(11),
                        List.of()));
    }

    private static Shape shape(Row row, List<NamedDefinition> parts) {
        return switch (row.kind()) {
            case "e" ->
                new Enumeration(parts.stream().map(NamedDefinition::name).toList());
            case "d" ->
                new Domain(
                        row.domain().baseType(),
                        row.domain().collation(),
                        row.domain().defaultExpression(),
                        row.domain().notNull(),
                        parts);
            case "c" -> row.relkind().equals("c") ? new Composite(parts) : new Opaque("row type of a table");
            case "r" -> range(parts);
            default -> new Opaque("base type");
        };
    }

    private static Shape range(List<NamedDefinition> parts) {
        if (parts.stream().anyMatch(part -> part.name().equals("CANONICAL"))) {
            return new Opaque("range with a canonical function");
        }
        return new Range(parts.stream()
                .map(part -> part.name() + " = " + part.definition())
                .toList());
    }
}
