package dev.pgapply.worker.jdbc;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetColumn.IdentityKind;
import dev.pgapply.core.relation.TargetTable;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the target's catalog describes tables, however many in one round trip. Owned by whoever owns the connection, whose search_path is
 * empty, so that format_type qualifies every type that is not PostgreSQL's own.
 */
public final class TableDescriber {

    /**
     * The identity is the replica identity index, else the primary key (relcache.c, RelationGetIndexList; relation.c,
     * GetRelationIdentityOrPK); neither if it is deferrable.
     */
    private static final String TABLE = """
            SELECT n.nspname, c.relname, c.relkind, row_security_active(c.oid),
                (SELECT array_agg(a.attname::text ORDER BY k.n)
                    FROM (SELECT i.indrelid, i.indkey, i.indnkeyatts FROM pg_index i
                        WHERE i.indrelid = c.oid AND i.indisvalid AND i.indisunique AND i.indimmediate
                            AND i.indpred IS NULL AND (i.indisreplident OR i.indisprimary)
                        ORDER BY i.indisreplident DESC LIMIT 1) i,
                        unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
                    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
                    WHERE k.n <= i.indnkeyatts)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE $named
            """;

    /**
     * Byte equality: int2, int4, int8, oid, bool, uuid, bytea, date, time, timestamp, timestamptz, enums, and text and varchar under a
     * deterministic collation. Types of float and numeric have values that are equal and print differently.
     */
    private static final String COLUMNS = """
            SELECT n.nspname, c.relname, a.attname, a.atttypid, format_type(b.oid, -1), a.atttypmod, a.attnotnull,
                a.atthasdef AND a.attgenerated = '' OR a.attidentity <> '', a.attgenerated <> '', a.attidentity,
                t.typtype = 'e' OR a.atttypid IN (16, 17, 20, 21, 23, 26, 1082, 1083, 1114, 1184, 2950)
                    OR a.atttypid IN (25, 1043) AND coalesce(l.collisdeterministic, true),
                t.typtype = 'e'
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type t ON t.oid = a.atttypid
            LEFT JOIN pg_collation l ON l.oid = a.attcollation
            CROSS JOIN LATERAL (SELECT CASE WHEN t.typtype = 'd' THEN (
                WITH RECURSIVE d AS (
                    SELECT t.typtype, t.oid, t.typbasetype
                    UNION ALL SELECT p.typtype, p.oid, p.typbasetype FROM d JOIN pg_type p ON p.oid = d.typbasetype
                    WHERE d.typtype = 'd')
                SELECT d.oid FROM d WHERE d.typtype <> 'd') ELSE t.oid END AS oid) b
            WHERE $named
            ORDER BY a.attnum
            """;

    /**
     * Row triggers of the table and its partitions, foreign keys by their constraint's name; a deferrable key's own recheck sees no order.
     * Statement triggers and rules only of the table itself: those of a partition do not fire for what goes by its root.
     */
    private static final String TRIGGERS = """
            SELECT DISTINCT n.nspname, c.relname, coalesce(k.conname, g.tgname)::text, (g.tgtype & 1) = 1
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            CROSS JOIN LATERAL (SELECT c.oid AS oid UNION SELECT p.relid FROM pg_partition_tree(c.oid) p) f
            JOIN pg_trigger g ON g.tgrelid = f.oid AND g.tgenabled IN ('A', ?)
                AND g.tgfoid <> 'pg_catalog.unique_key_recheck()'::regprocedure
                AND ((g.tgtype & 1) = 1 OR f.oid = c.oid)
            LEFT JOIN pg_constraint k ON g.tgisinternal AND k.oid = g.tgconstraint
            WHERE $named
            UNION ALL
            SELECT n.nspname, c.relname, r.rulename::text, false
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_rewrite r ON r.ev_class = c.oid AND r.ev_type <> '1' AND r.ev_enabled IN ('A', ?)
            WHERE $named
            ORDER BY 4, 3
            """;

    /** Further unique indexes, smallest oid first. */
    private static final String UNIQUE_KEYS = """
            SELECT n.nspname, c.relname, i.indexrelid, a.attname
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indisunique AND i.indimmediate AND i.indpred IS NULL
                AND NOT i.indisreplident AND NOT i.indisprimary AND NOT 0 = ANY (i.indkey::int2[])
            CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
            WHERE $named
                AND k.n <= i.indnkeyatts ORDER BY i.indexrelid, k.n
            """;

    private static final String QUERY = TABLE + ";" + COLUMNS + ";" + TRIGGERS + ";" + UNIQUE_KEYS;

    /** The server plans it once; the one for many it would plan for each execution, at several times the cost. */
    private static final String ONE = QUERY.replace("$named", "n.nspname = ? AND c.relname = ?");

    private static final String MANY =
            QUERY.replace("$named", "(n.nspname, c.relname) IN (SELECT * FROM unnest(?::text[], ?::text[]))");

    private final Connection connection;
    private final PreparedStatement ofOne;
    private final String firing;

    /** @param replica whether sessions run in the replica role, in which ordinary triggers, foreign keys and rules do not fire */
    public TableDescriber(Connection connection, boolean replica) throws SQLException {
        this.connection = connection;
        this.ofOne = connection.prepareStatement(ONE);
        this.firing = replica ? "R" : "O";
    }

    /** What one of them is made of. */
    private static final class Parts {
        private final TargetTable.Kind kind;
        private final boolean rowSecurity;
        private final @Nullable List<String> identity;
        private final List<TargetColumn> columns = new ArrayList<>();
        private final List<String> rowTriggers = new ArrayList<>();
        private final List<String> statementTriggers = new ArrayList<>();
        private final Map<Long, List<String>> uniqueKeys = new LinkedHashMap<>();

        Parts(TargetTable.Kind kind, boolean rowSecurity, @Nullable List<String> identity) {
            this.kind = kind;
            this.rowSecurity = rowSecurity;
            this.identity = identity;
        }

        TargetTable table(QualifiedName name) {
            return new TargetTable(
                    name,
                    kind,
                    columns,
                    identity,
                    List.copyOf(uniqueKeys.values()),
                    rowSecurity,
                    new TargetTable.Triggers(rowTriggers, statementTriggers));
        }
    }

    /** What follows the two names in a row of a result. */
    @FunctionalInterface
    private interface RowReader {
        void read(Parts parts, ResultSet row) throws SQLException;
    }

    public @Nullable TargetTable describe(QualifiedName name) throws SQLException {
        setParameters(ofOne, name.schema(), name.name());
        return read(ofOne).get(name);
    }

    /** Those of the tables that are there. */
    public Map<QualifiedName, TargetTable> describe(Collection<QualifiedName> names) throws SQLException {
        Array schemas = connection.createArrayOf(
                "text", names.stream().map(QualifiedName::schema).toArray());
        Array tables = connection.createArrayOf(
                "text", names.stream().map(QualifiedName::name).toArray());
        try (PreparedStatement ofMany = connection.prepareStatement(MANY)) {
            setParameters(ofMany, schemas, tables);
            return read(ofMany);
        }
    }

    private void setParameters(PreparedStatement statement, Object schema, Object table) throws SQLException {
        int index = 1;
        // The table, its columns, its triggers, its rules, its keys.
        for (boolean fires : new boolean[] {false, false, true, true, false}) {
            if (fires) {
                statement.setString(index++, firing);
            }
            statement.setObject(index++, schema);
            statement.setObject(index++, table);
        }
    }

    private static Map<QualifiedName, TargetTable> read(PreparedStatement statement) throws SQLException {
        statement.execute();
        Map<QualifiedName, Parts> found = new LinkedHashMap<>();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                found.put(name(rows), new Parts(kind(rows.getString(3)), rows.getBoolean(4), names(rows.getArray(5))));
            }
        }
        readNext(statement, found, (parts, row) -> parts.columns.add(column(row)));
        readNext(
                statement,
                found,
                (parts, row) ->
                        (row.getBoolean(4) ? parts.rowTriggers : parts.statementTriggers).add(row.getString(3)));
        readNext(
                statement,
                found,
                (parts, row) -> parts.uniqueKeys
                        .computeIfAbsent(row.getLong(3), oid -> new ArrayList<>())
                        .add(row.getString(4)));
        Map<QualifiedName, TargetTable> described = new LinkedHashMap<>();
        found.forEach((name, parts) -> described.put(name, parts.table(name)));
        return described;
    }

    /** A table that somebody makes between two queries is in the later ones only. */
    private static void readNext(PreparedStatement statement, Map<QualifiedName, Parts> found, RowReader reader)
            throws SQLException {
        statement.getMoreResults();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                Parts parts = found.get(name(rows));
                if (parts != null) {
                    reader.read(parts, rows);
                }
            }
        }
    }

    private static QualifiedName name(ResultSet row) throws SQLException {
        return new QualifiedName(row.getString(1), row.getString(2));
    }

    private static TargetTable.Kind kind(String relkind) {
        return switch (relkind) {
            case "r" -> TargetTable.Kind.PLAIN;
            case "p" -> TargetTable.Kind.PARTITIONED;
            default -> TargetTable.Kind.OTHER;
        };
    }

    private static TargetColumn column(ResultSet row) throws SQLException {
        IdentityKind identity = switch (row.getString(10)) {
            case "a" -> IdentityKind.ALWAYS;
            case "d" -> IdentityKind.BY_DEFAULT;
            default -> IdentityKind.NONE;
        };
        return new TargetColumn(
                row.getString(3),
                new Oid((int) row.getLong(4)),
                row.getString(5),
                row.getInt(6),
                row.getBoolean(7),
                row.getBoolean(8),
                row.getBoolean(9),
                identity,
                row.getBoolean(11),
                row.getBoolean(12));
    }

    private static @Nullable List<String> names(@Nullable Array array) throws SQLException {
        if (array == null) {
            return null;
        }
        List<String> names = new ArrayList<>();
        for (Object name : (Object[]) array.getArray()) {
            names.add((String) name);
        }
        return names;
    }
}
