package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the tables of several publications and merges what each says of a table, by the rules of subscriptioncmds.c
 * (fetch_table_list) and tablesync.c (fetch_remote_table_info). Owned by the thread that owns the connection.
 */
final class PublishedTables {

    /**
     * The state of subscriptions into the publisher, where it is a target itself and publishes all its tables. Applied here it would
     * overwrite this target's own.
     */
    private static final String STATE_SCHEMA = "pgapply";

    private final Connection connection;
    private final int major;

    PublishedTables(Connection connection, int major) {
        this.connection = connection;
        this.major = major;
    }

    /** A table as one publication has it; {@code attributes} is null where it has no column list. */
    private record Entry(
            int oid,
            QualifiedName name,
            boolean partitioned,
            ReplicaIdentity replicaIdentity,
            long rowsEstimated,
            long bytesEstimated,
            @Nullable List<Integer> attributes,
            @Nullable String rowFilter,
            boolean updates,
            boolean deletes,
            boolean truncates) {}

    private record Attribute(int number, PublishedColumn column) {}

    List<PublishedTable> read(List<String> publications) throws SQLException {
        Map<Integer, List<Entry>> entriesByTable = new LinkedHashMap<>();
        for (Entry entry : readEntries(publications)) {
            if (!entry.name().schema().equals(STATE_SCHEMA)) {
                entriesByTable
                        .computeIfAbsent(entry.oid(), oid -> new ArrayList<>())
                        .add(entry);
            }
        }
        Map<Integer, List<Attribute>> attributes = readAttributes(entriesByTable.keySet());
        List<PublishedTable> tables = new ArrayList<>();
        for (Map.Entry<Integer, List<Entry>> table : entriesByTable.entrySet()) {
            tables.add(merge(table.getValue(), attributes.getOrDefault(table.getKey(), List.of())));
        }
        return tables;
    }

    private static PublishedTable merge(List<Entry> entries, List<Attribute> attributes) {
        Entry first = entries.get(0);
        Set<List<PublishedColumn>> columnLists = new LinkedHashSet<>();
        Set<String> rowFilters = new LinkedHashSet<>();
        boolean everyRow = false;
        boolean updates = false;
        boolean deletes = false;
        boolean truncates = false;
        for (Entry entry : entries) {
            List<Integer> listed = entry.attributes();
            columnLists.add(attributes.stream()
                    .filter(attribute ->
                            listed == null ? !attribute.column().generated() : listed.contains(attribute.number()))
                    .map(Attribute::column)
                    .toList());
            String rowFilter = entry.rowFilter();
            if (rowFilter == null) {
                everyRow = true;
            } else {
                rowFilters.add(rowFilter);
            }
            updates |= entry.updates();
            deletes |= entry.deletes();
            truncates |= entry.truncates();
        }
        if (columnLists.size() > 1) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "cannot use different column lists for table \"" + first.name() + "\" in different publications",
                    "give the table the same column list in each publication of the subscription");
        }
        return new PublishedTable(
                new Oid(first.oid()),
                first.name(),
                first.partitioned(),
                first.replicaIdentity(),
                columnLists.iterator().next(),
                everyRow ? List.of() : List.copyOf(rowFilters),
                updates,
                deletes,
                truncates,
                first.rowsEstimated(),
                first.bytesEstimated());
    }

    private List<Entry> readEntries(List<String> publications) throws SQLException {
        // A partition whose root is published too is sent as its root; PostgreSQL up to 15 lists both.
        String sql = "WITH published AS ("
                + "SELECT g.relid, p.pubupdate, p.pubdelete, p.pubtruncate, "
                + (major >= 15
                        ? "g.attrs::smallint[] AS attrs, pg_get_expr(g.qual, g.relid) AS qual"
                        : "NULL::smallint[] AS attrs, NULL::text AS qual")
                + " FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname::text) g"
                + " WHERE p.pubname = ANY (?))"
                + " SELECT c.oid::bigint, n.nspname, c.relname, c.relkind, c.relreplident, s.row_count, s.size, o.attrs, o.qual,"
                + " o.pubupdate, o.pubdelete, o.pubtruncate"
                + " FROM published o JOIN pg_class c ON c.oid = o.relid JOIN pg_namespace n ON n.oid = c.relnamespace,"
                + " LATERAL (SELECT CASE WHEN max(r.reltuples) < 0 THEN -1 ELSE sum(greatest(r.reltuples, 0))::bigint END"
                + " AS row_count, sum(pg_table_size(r.oid))::bigint AS size"
                + " FROM (SELECT c.oid WHERE c.relkind <> 'p'"
                + " UNION ALL SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf AND c.relkind = 'p') m(oid)"
                + " JOIN pg_class r ON r.oid = m.oid) s"
                + " WHERE NOT EXISTS (SELECT FROM pg_partition_ancestors(o.relid) a(relid)"
                + " WHERE a.relid <> o.relid AND a.relid IN (SELECT relid FROM published))"
                + " ORDER BY n.nspname, c.relname";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", publications.toArray()));
            List<Entry> entries = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    entries.add(new Entry(
                            (int) row.getLong(1),
                            new QualifiedName(row.getString(2), row.getString(3)),
                            row.getString(4).equals("p"),
                            replicaIdentity(row.getString(5)),
                            row.getLong(6),
                            row.getLong(7),
                            numbers(row.getArray(8)),
                            row.getString(9),
                            row.getBoolean(10),
                            row.getBoolean(11),
                            row.getBoolean(12)));
                }
            }
            return entries;
        }
    }

    private static @Nullable List<Integer> numbers(@Nullable Array array) throws SQLException {
        if (array == null) {
            return null;
        }
        List<Integer> numbers = new ArrayList<>();
        for (Object number : (Object[]) array.getArray()) {
            numbers.add(((Number) number).intValue());
        }
        return numbers;
    }

    static ReplicaIdentity replicaIdentity(String code) {
        for (ReplicaIdentity identity : ReplicaIdentity.values()) {
            if (identity.code() == code.charAt(0)) {
                return identity;
            }
        }
        throw new ApplyException(Kind.PROTOCOL_VIOLATION, "unknown replica identity \"" + code + "\"");
    }

    private Map<Integer, List<Attribute>> readAttributes(Set<Integer> oids) throws SQLException {
        // pgoutput marks every column of a REPLICA IDENTITY FULL table as key (proto.c, logicalrep_write_attrs).
        String sql =
                "SELECT a.attrelid::bigint, a.attnum, a.attgenerated <> '', a.attname, a.atttypid::bigint, a.atttypmod,"
                        + " format_type(a.atttypid, a.atttypmod), c.relreplident = 'f' OR coalesce(a.attnum = ANY (i.indkey), false),"
                        + " t.oid < 10000 AND e.typtype IN ('b', 'r', 'm') AND e.typname NOT LIKE 'reg%' AND e.typname <> 'tsquery' AND e.typsend <> 0"
                        + " AND e.typreceive <> 0, t.typtype = 'e'"
                        + " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid"
                        + " JOIN pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END"
                        + " LEFT JOIN pg_index i ON i.indexrelid = pg_get_replica_identity_index(c.oid)"
                        + " WHERE a.attrelid = ANY (?::oid[]) AND a.attnum > 0 AND NOT a.attisdropped"
                        + " ORDER BY a.attrelid, a.attnum";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", oids.stream().map(Integer::toUnsignedString).toArray()));
            Map<Integer, List<Attribute>> attributes = new LinkedHashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    attributes
                            .computeIfAbsent((int) row.getLong(1), oid -> new ArrayList<>())
                            .add(attribute(row));
                }
            }
            return attributes;
        }
    }

    private static Attribute attribute(ResultSet row) throws SQLException {
        return new Attribute(
                row.getInt(2),
                new PublishedColumn(
                        row.getString(4),
                        new Oid((int) row.getLong(5)),
                        row.getInt(6),
                        row.getString(7),
                        row.getBoolean(8),
                        row.getBoolean(3),
                        row.getBoolean(9),
                        row.getBoolean(10)));
    }
}
