package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The lock on a published table while it is copied, and what is known once it is held: that the snapshot still shows the table as it was.
 * Stateless.
 */
final class PublishedTableLock {

    private PublishedTableLock() {}

    /**
     * Locks the table until the end of the publisher's transaction, which has imported the snapshot.
     *
     * @throws ApplyException of kind TRANSIENT if the snapshot does not show the table's rows any more
     */
    static void take(Connection publisher, CopyingTable table) throws SQLException {
        lock(publisher, table.copy());
        requireUnchanged(publisher, table.copy());
        if (table.copy().published().partitioned()) {
            requireNoneAttached(publisher, table);
        }
    }

    /** Reads no row, but takes the table's lock and its partitions' until the end of the transaction; LOCK TABLE would ask for more rights. */
    private static void lock(Connection publisher, TableCopy copy) {
        try (Statement statement = publisher.createStatement()) {
            statement.execute(copy.select() + " LIMIT 0");
        } catch (SQLException e) {
            throw PostgresErrors.translate("the publisher does not let it be read", e);
        }
    }

    /**
     * A table that was rewritten or truncated before the lock reads as empty under an older snapshot (SEMANTICS 1.7), and a partition
     * that was detached is not read at all. Under the lock neither can happen any more.
     */
    private static void requireUnchanged(Connection publisher, TableCopy copy) throws SQLException {
        String sql = "WITH RECURSIVE seen AS (SELECT oid AS relid FROM pg_class WHERE oid = ?::oid"
                + " UNION ALL SELECT i.inhrelid FROM seen s JOIN pg_class c ON c.oid = s.relid AND c.relkind = 'p'"
                + " JOIN pg_inherits i ON i.inhparent = s.relid)"
                + " SELECT coalesce(to_regclass(?)::oid = ?::oid, false),"
                + " (SELECT string_agg(c.oid::regclass::text, ', ') FROM seen s JOIN pg_class c ON c.oid = s.relid"
                + " WHERE c.relkind <> 'p' AND (c.relfilenode IS DISTINCT FROM pg_relation_filenode(c.oid)"
                + " OR c.relispartition AND NOT EXISTS (SELECT FROM pg_partition_ancestors(c.oid) a(relid) WHERE a.relid = ?::oid)))";
        try (PreparedStatement statement = publisher.prepareStatement(sql)) {
            String oid = copy.published().oid().toString();
            statement.setString(1, oid);
            statement.setString(2, Identifiers.quote(copy.published().name()));
            statement.setString(3, oid);
            statement.setString(4, oid);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (!row.getBoolean(1)) {
                    throw new ApplyException(
                            Kind.TRANSIENT,
                            "it was dropped or renamed on the publisher after the snapshot, the copy begins again");
                }
                String changed = row.getString(2);
                if (changed != null) {
                    throw new ApplyException(
                            Kind.TRANSIENT,
                            changed
                                    + " was rewritten, truncated or detached on the publisher after the snapshot, the copy begins"
                                    + " again");
                }
            }
        }
    }

    /**
     * A partition that the snapshot shows as a table of its own, attached after the parts were planned, would not be read; what is newer
     * than the snapshot has no rows in it.
     */
    private static void requireNoneAttached(Connection publisher, CopyingTable table) throws SQLException {
        String sql = "SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_partition_tree(?::oid) p"
                + " JOIN pg_class c ON c.oid = p.relid WHERE p.isleaf AND NOT c.oid = ANY (?::bigint[]::oid[])";
        if (table.relations().isEmpty()) {
            return;
        }
        try (PreparedStatement statement = publisher.prepareStatement(sql)) {
            statement.setString(1, table.copy().published().oid().toString());
            statement.setArray(
                    2, publisher.createArrayOf("int8", table.relations().toArray()));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String attached = row.getString(1);
                if (attached != null) {
                    throw new ApplyException(
                            Kind.TRANSIENT,
                            attached + " was attached on the publisher after the snapshot, the copy begins again");
                }
            }
        }
    }
}
