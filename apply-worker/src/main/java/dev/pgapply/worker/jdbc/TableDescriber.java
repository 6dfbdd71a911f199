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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the target's catalog describes a table, in one round trip. Owned by whoever owns the connection, whose search_path is
 * empty, so that format_type qualifies every type that is not PostgreSQL's own.
 */
public final class TableDescriber {

    /**
     * The identity is the replica identity index, else the primary key (relcache.c, RelationGetIndexList; relation.c,
     * GetRelationIdentityOrPK); neither if it is deferrable.
     */
    private static final String TABLE = """
            SELECT c.relkind, row_security_active(c.oid),
                (SELECT array_agg(a.attname::text ORDER BY k.n)
                    FROM (SELECT i.indrelid, i.indkey, i.indnkeyatts FROM pg_index i
                        WHERE i.indrelid = c.oid AND i.indisvalid AND i.indisunique AND i.indimmediate
                            AND i.indpred IS NULL AND (i.indisreplident OR i.indisprimary)
                        ORDER BY i.indisreplident DESC LIMIT 1) i,
                        unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
                    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
                    WHERE k.n <= i.indnkeyatts)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = ? AND c.relname = ?
            """;

    /**
     * Byte equality: int2, int4, int8, oid, bool, uuid, bytea, date, time, timestamp, timestamptz, enums, and text and varchar under a
     * deterministic collation. Types of float and numeric have values that are equal and print differently.
     */
    private static final String COLUMNS = """
            SELECT a.attname, a.atttypid, format_type(b.oid, -1), a.atttypmod, a.attnotnull,
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
            WHERE n.nspname = ? AND c.relname = ? ORDER BY a.attnum
            """;

    /**
     * Row triggers of the table and its partitions, foreign keys by their constraint's name; a deferrable key's own recheck sees no order.
     * Statement triggers and rules only of the table itself: those of a partition do not fire for what goes by its root.
     */
    private static final String TRIGGERS = """
            SELECT DISTINCT coalesce(k.conname, g.tgname)::text, (g.tgtype & 1) = 1
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            CROSS JOIN LATERAL (SELECT c.oid AS oid UNION SELECT p.relid FROM pg_partition_tree(c.oid) p) f
            JOIN pg_trigger g ON g.tgrelid = f.oid AND g.tgenabled IN ('A', ?)
                AND g.tgfoid <> 'pg_catalog.unique_key_recheck()'::regprocedure
                AND ((g.tgtype & 1) = 1 OR f.oid = c.oid)
            LEFT JOIN pg_constraint k ON g.tgisinternal AND k.oid = g.tgconstraint
            WHERE n.nspname = ? AND c.relname = ?
            UNION ALL
            SELECT r.rulename::text, false
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_rewrite r ON r.ev_class = c.oid AND r.ev_type <> '1' AND r.ev_enabled IN ('A', ?)
            WHERE n.nspname = ? AND c.relname = ?
            ORDER BY 2, 1
            """;

    /** Further unique indexes, smallest oid first. */
    private static final String UNIQUE_KEYS = """
            SELECT i.indexrelid, a.attname
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indisunique AND i.indimmediate AND i.indpred IS NULL
                AND NOT i.indisreplident AND NOT i.indisprimary AND NOT 0 = ANY (i.indkey::int2[])
            CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
            WHERE n.nspname = ? AND c.relname = ? AND k.n <= i.indnkeyatts ORDER BY i.indexrelid, k.n
            """;

    private static final String QUERY = TABLE + ";" + COLUMNS + ";" + TRIGGERS + ";" + UNIQUE_KEYS;

    private final PreparedStatement statement;
    private final String firing;

    /** @param replica whether sessions run in the replica role, in which ordinary triggers, foreign keys and rules do not fire */
    public TableDescriber(Connection connection, boolean replica) throws SQLException {
        this.statement = connection.prepareStatement(QUERY);
        this.firing = replica ? "R" : "O";
    }

    public @Nullable TargetTable describe(QualifiedName name) throws SQLException {
        int index = 1;
        for (int part = 0; part < 4; part++) {
            if (part >= 2) {
                statement.setString(index++, firing);
            }
            statement.setString(index++, name.schema());
            statement.setString(index++, name.name());
        }
        statement.setString(index++, name.schema());
        statement.setString(index++, name.name());
        statement.execute();
        TargetTable.Kind kind;
        boolean rowSecurity;
        List<String> identity;
        try (ResultSet table = statement.getResultSet()) {
            if (!table.next()) {
                return null;
            }
            kind = kind(table.getString(1));
            rowSecurity = table.getBoolean(2);
            identity = names(table.getArray(3));
        }
        statement.getMoreResults();
        List<TargetColumn> columns = new ArrayList<>();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                columns.add(column(rows));
            }
        }
        statement.getMoreResults();
        List<String> rowTriggers = new ArrayList<>();
        List<String> statementTriggers = new ArrayList<>();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                (rows.getBoolean(2) ? rowTriggers : statementTriggers).add(rows.getString(1));
            }
        }
        statement.getMoreResults();
        Map<Long, List<String>> uniqueKeys = new LinkedHashMap<>();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                uniqueKeys
                        .computeIfAbsent(rows.getLong(1), oid -> new ArrayList<>())
                        .add(rows.getString(2));
            }
        }
        return new TargetTable(
                name,
                kind,
                columns,
                identity,
                List.copyOf(uniqueKeys.values()),
                rowSecurity,
                new TargetTable.Triggers(rowTriggers, statementTriggers));
    }

    private static TargetTable.Kind kind(String relkind) {
        return switch (relkind) {
            case "r" -> TargetTable.Kind.PLAIN;
            case "p" -> TargetTable.Kind.PARTITIONED;
            default -> TargetTable.Kind.OTHER;
        };
    }

    private static TargetColumn column(ResultSet row) throws SQLException {
        IdentityKind identity = switch (row.getString(8)) {
            case "a" -> IdentityKind.ALWAYS;
            case "d" -> IdentityKind.BY_DEFAULT;
            default -> IdentityKind.NONE;
        };
        return new TargetColumn(
                row.getString(1),
                new Oid((int) row.getLong(2)),
                row.getString(3),
                row.getInt(4),
                row.getBoolean(5),
                row.getBoolean(6),
                row.getBoolean(7),
                identity,
                row.getBoolean(9),
                row.getBoolean(10));
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
