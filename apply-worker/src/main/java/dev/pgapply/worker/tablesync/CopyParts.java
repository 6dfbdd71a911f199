package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Cuts tables into parts, so that one large table keeps all workers busy: a partitioned one into its leaves, a large heap into ranges of
 * blocks. Stateless.
 */
final class CopyParts {

    private static final long MEGABYTE = 1024 * 1024;

    /** Below this, another statement and another commit cost more than a second worker gains. */
    private static final long MIN_BYTES = 16 * MEGABYTE;

    /** What is lost when a connection breaks, and what the last worker may still have to do when the others are done. */
    private static final long MAX_BYTES = 1024 * MEGABYTE;

    private static final int PARTS_FOR_EACH_WORKER = 4;

    // Whoever may read a partitioned table need not be allowed to read a partition by itself, and a partition's own
    // policies do not
    // hold for those who come by the root: such a table is read by its root, in one part.
    private static final String RELATIONS = "SELECT r.oid::bigint, c.oid::bigint, n.nspname, c.relname,"
            + " coalesce(c.relkind IN ('r', 'm') AND a.amname = 'heap', false),"
            + " coalesce(pg_relation_size(c.oid) / current_setting('block_size')::int, 0), coalesce(pg_table_size(c.oid), 0),"
            + " has_table_privilege(c.oid, 'SELECT') AND NOT row_security_active(c.oid)"
            + " FROM pg_class r CROSS JOIN LATERAL (SELECT r.oid WHERE r.relkind <> 'p'"
            + " UNION ALL SELECT relid FROM pg_partition_tree(r.oid) WHERE isleaf AND r.relkind = 'p') m(relid)"
            + " JOIN pg_class c ON c.oid = m.relid JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am a ON a.oid = c.relam"
            + " WHERE r.oid = ANY (?::bigint[]::oid[]) ORDER BY 7 DESC, 2";

    /** @param readable whether it can be read by itself instead of by its root */
    private record Relation(long oid, QualifiedName name, boolean heap, long blocks, long bytes, boolean readable) {}

    private CopyParts() {}

    /**
     * The parts of the tables, in the tables' order and within each by size.
     *
     * @param publisher a session on the publisher that has imported the snapshot
     * @param workers how many will copy
     */
    static List<CopyPart> of(Connection publisher, List<TableCopy> copies, int workers) {
        Map<Long, List<Relation>> relations = relations(publisher, copies);
        List<CopyPart> parts = new ArrayList<>();
        for (TableCopy copy : copies) {
            parts.addAll(parts(copy, relations.getOrDefault(oid(copy), List.of()), workers));
        }
        return parts;
    }

    private static List<CopyPart> parts(TableCopy copy, List<Relation> relations, int workers) {
        boolean byRoot = relations.isEmpty()
                || (copy.published().partitioned() && !relations.stream().allMatch(Relation::readable));
        if (byRoot) {
            CopyingTable table = new CopyingTable(copy, List.of(), 1);
            return List.of(
                    new CopyPart(table, copy.name(), null, copy.published().bytesEstimated()));
        }
        long total = relations.stream().mapToLong(Relation::bytes).sum();
        long target = Math.max(MIN_BYTES, Math.min(MAX_BYTES, total / ((long) workers * PARTS_FOR_EACH_WORKER)));
        int count = relations.stream()
                .mapToInt(relation -> partCount(relation, target, workers))
                .sum();
        CopyingTable table =
                new CopyingTable(copy, relations.stream().map(Relation::oid).toList(), count);
        List<CopyPart> parts = new ArrayList<>();
        for (Relation relation : relations) {
            int ranges = partCount(relation, target, workers);
            if (ranges == 1) {
                parts.add(new CopyPart(table, relation.name(), null, relation.bytes()));
                continue;
            }
            for (BlockRange range : BlockRange.split(relation.blocks(), ranges)) {
                parts.add(new CopyPart(table, relation.name(), range, relation.bytes() / ranges));
            }
        }
        return parts;
    }

    /** Of a table that is large because of its TOAST each heap block is many bytes, but no block can be cut. */
    private static int partCount(Relation relation, long targetBytes, int workers) {
        if (workers == 1 || !relation.heap()) {
            return 1;
        }
        return (int) Math.max(1, Math.min(relation.blocks(), relation.bytes() / targetBytes));
    }

    private static long oid(TableCopy copy) {
        return Integer.toUnsignedLong(copy.published().oid().value());
    }

    private static Map<Long, List<Relation>> relations(Connection publisher, List<TableCopy> copies) {
        Map<Long, List<Relation>> relations = new HashMap<>();
        try (PreparedStatement statement = publisher.prepareStatement(RELATIONS)) {
            statement.setArray(
                    1,
                    publisher.createArrayOf(
                            "int8", copies.stream().map(CopyParts::oid).toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    relations
                            .computeIfAbsent(row.getLong(1), oid -> new ArrayList<>())
                            .add(new Relation(
                                    row.getLong(2),
                                    new QualifiedName(row.getString(3), row.getString(4)),
                                    row.getBoolean(5),
                                    row.getLong(6),
                                    row.getLong(7),
                                    row.getBoolean(8)));
                }
            }
            return relations;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the sizes of the published tables", e);
        }
    }
}
