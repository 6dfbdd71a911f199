package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.worker.schema.ObjectIdentity;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What tables and types need of other objects (pg_depend). What came with the server is not recorded there and so not told; an array stands
 * for its element, a multirange for its range. Owned by the thread that owns the connection.
 */
final class NeedsReader {

    /** The part of a table or type that needs something; the values are those of the query. */
    enum Part {
        /** The table itself; its number is 0. */
        TABLE('t'),
        /** A column, or an attribute of a composite type; its number is attnum. */
        COLUMN('t'),
        /** A column's expression; its number is attnum. */
        EXPRESSION('d'),
        /** Its number is the constraint's oid. */
        CONSTRAINT('c'),
        /** Its number is the index's oid. */
        INDEX('i'),
        /** The type itself, and a domain's constraints; its number is 0. */
        TYPE('y');

        private final char code;

        Part(char code) {
            this.code = code;
        }
    }

    private record Key(char code, Oid owner, long number) {}

    /** @param columns names of the owner's columns that are read */
    record Needs(List<ObjectIdentity> objects, List<String> columns) {
        private static final Needs NONE = new Needs(List.of(), List.of());

        private Needs() {
            this(new ArrayList<>(), new ArrayList<>());
        }
    }

    private static final String OF_TABLES = """
            SELECT 't' AS code, d.objid AS owner, d.objsubid::bigint AS number, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = ANY (?::oid[])
            UNION ALL
            SELECT 'd', a.adrelid, a.adnum, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_attrdef a JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
            WHERE a.adrelid = ANY (?::oid[])
            UNION ALL
            SELECT 'c', o.conrelid, o.oid::bigint, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_constraint o JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = o.oid
            WHERE o.conrelid = ANY (?::oid[])
            UNION ALL
            SELECT 'i', i.indrelid, i.indexrelid::bigint, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_index i JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
            WHERE i.indrelid = ANY (?::oid[])
            """;

    private static final String OF_TYPES = """
            SELECT 'y' AS code, t.oid AS owner, 0::bigint AS number, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
            WHERE t.oid = ANY (?::oid[])
            UNION ALL
            SELECT 'y', t.oid, 0, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = t.typrelid AND d.objsubid > 0
            WHERE t.oid = ANY (?::oid[]) AND t.typtype = 'c'
            UNION ALL
            SELECT 'y', o.contypid, 0, d.refclassid, d.refobjid, d.refobjsubid
            FROM pg_constraint o JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = o.oid
            WHERE o.contypid = ANY (?::oid[])
            """;

    /**
     * The owner itself is no need of its own. Other relations count only where an expression names them (a sequence): what a foreign key
     * points to is told elsewhere, and an index's parent and a table's parents are not needed.
     */
    private static final String IDENTIFIED = """
            SELECT DISTINCT e.code, e.owner::bigint, e.number, i.type, n.nspname, i.identity,
                (SELECT x.extname FROM pg_depend m JOIN pg_extension x ON x.oid = m.refobjid
                    WHERE m.classid = o.classid AND m.objid = o.objid AND m.deptype = 'e'
                        AND m.refclassid = 'pg_extension'::regclass),
                c.relname,
                (SELECT a.attname FROM pg_attribute a WHERE e.refclassid = 'pg_class'::regclass AND a.attrelid = e.owner
                    AND a.attrelid = e.refobjid AND a.attnum = e.refobjsubid)
            FROM (%s) e
            CROSS JOIN LATERAL (SELECT e.refclassid AS classid, CASE WHEN e.refclassid = 'pg_type'::regclass THEN
                    (SELECT coalesce((SELECT r.rngtypid FROM pg_range r WHERE r.rngmultitypid = l.oid), l.oid)
                        FROM (SELECT CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END AS oid
                            FROM pg_type t WHERE t.oid = e.refobjid) l)
                ELSE e.refobjid END AS objid) o
            CROSS JOIN LATERAL pg_identify_object(o.classid, o.objid, 0) i
            LEFT JOIN pg_class c ON o.classid = 'pg_class'::regclass AND c.oid = o.objid
            LEFT JOIN pg_namespace n ON n.oid = CASE o.classid
                WHEN 'pg_class'::regclass THEN c.relnamespace
                WHEN 'pg_type'::regclass THEN (SELECT typnamespace FROM pg_type WHERE oid = o.objid)
                WHEN 'pg_proc'::regclass THEN (SELECT pronamespace FROM pg_proc WHERE oid = o.objid)
                WHEN 'pg_operator'::regclass THEN (SELECT oprnamespace FROM pg_operator WHERE oid = o.objid)
                WHEN 'pg_collation'::regclass THEN (SELECT collnamespace FROM pg_collation WHERE oid = o.objid)
                WHEN 'pg_opclass'::regclass THEN (SELECT opcnamespace FROM pg_opclass WHERE oid = o.objid)
                WHEN 'pg_opfamily'::regclass THEN (SELECT opfnamespace FROM pg_opfamily WHERE oid = o.objid)
                WHEN 'pg_ts_config'::regclass THEN (SELECT cfgnamespace FROM pg_ts_config WHERE oid = o.objid)
                WHEN 'pg_ts_dict'::regclass THEN (SELECT dictnamespace FROM pg_ts_dict WHERE oid = o.objid)
                END
            WHERE e.refclassid IN ('pg_class'::regclass, 'pg_type'::regclass, 'pg_proc'::regclass,
                'pg_operator'::regclass, 'pg_collation'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass,
                'pg_ts_config'::regclass, 'pg_ts_dict'::regclass)
                AND (e.refclassid <> 'pg_class'::regclass OR e.code = 'd' OR e.refobjid = e.owner AND e.refobjsubid > 0)
                AND NOT (e.refclassid = 'pg_class'::regclass AND e.refobjid = e.owner AND e.refobjsubid = 0)
                AND NOT (e.code = 'y' AND o.classid = 'pg_type'::regclass AND o.objid = e.owner)
            ORDER BY 1, 2, 3, 4, 6
            """;

    private final Map<Key, Needs> needs = new HashMap<>();

    private NeedsReader() {}

    static NeedsReader ofTables(Connection connection, Collection<Oid> tables) throws SQLException {
        return new NeedsReader().read(connection, OF_TABLES, tables);
    }

    static NeedsReader ofTypes(Connection connection, Collection<Oid> types) throws SQLException {
        return new NeedsReader().read(connection, OF_TYPES, types);
    }

    private NeedsReader read(Connection connection, String dependencies, Collection<Oid> owners) throws SQLException {
        CatalogRows.forEach(connection, IDENTIFIED.formatted(dependencies), owners, this::add);
        return this;
    }

    private void add(ResultSet row) throws SQLException {
        Key key = new Key(row.getString(1).charAt(0), CatalogRows.oid(row, 2), row.getLong(3));
        Needs of = needs.computeIfAbsent(key, missing -> new Needs());
        String column = row.getString(9);
        if (column != null) {
            of.columns().add(column);
        } else {
            ObjectIdentity object = new ObjectIdentity(
                    row.getString(4),
                    row.getString(5),
                    row.getString(6),
                    row.getString(7),
                    CatalogRows.name(row, 5, 8));
            // Types first: who lacks one lacks its functions as well.
            of.objects().add(object.type().equals("type") ? 0 : of.objects().size(), object);
        }
    }

    Needs of(Part part, Oid owner, long number) {
        @Nullable Needs found = needs.get(new Key(part.code, owner, number));
        return found == null ? Needs.NONE : found;
    }
}
