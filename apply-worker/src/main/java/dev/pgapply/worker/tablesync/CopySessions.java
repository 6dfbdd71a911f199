package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.origin.CopyOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/**
 * The two sessions of a copy worker, one on each side. What has failed on one of them leaves both in a state that nobody wants to mend:
 * they are discarded together, and the worker opens others. Owned by the worker's thread.
 */
final class CopySessions {

    private final CopyConnections connections;
    private final Connection publisher;
    private final Connection target;
    private final CopyOrigin origin;

    /** The table that the publisher's open transaction is for. */
    private @Nullable CopyingTable reading;

    private boolean locked;

    private CopySessions(CopyConnections connections, Connection publisher, Connection target, CopyOrigin origin) {
        this.connections = connections;
        this.publisher = publisher;
        this.target = target;
        this.origin = origin;
    }

    static CopySessions open(CopyConnections connections, int subid) {
        Connection publisher = connections.openPublisher();
        Connection target = connections.openTarget();
        return new CopySessions(connections, publisher, target, CopyOrigin.attach(target, subid));
    }

    Connection target() {
        return target;
    }

    int targetPid() {
        return session(target).getBackendPID();
    }

    CopyManager publisherCopy() throws SQLException {
        return session(publisher).getCopyAPI();
    }

    CopyManager targetCopy() throws SQLException {
        return session(target).getCopyAPI();
    }

    /**
     * Sees to it that the publisher's session sees what the snapshot saw; lock and snapshot stay for all parts of the table that come one after
     * another.
     *
     * @throws ApplyException of kind TRANSIENT if the snapshot is lost, whatever the table
     */
    void read(CopyingTable table, String snapshotName) throws SQLException {
        if (table != reading) {
            commit();
            SnapshotHolder.importSnapshot(publisher, snapshotName);
            reading = table;
        }
    }

    /** Locks the table that is read. */
    void lock() throws SQLException {
        CopyingTable table = reading;
        if (table != null && !locked) {
            PublishedTableLock.take(publisher, table);
            locked = true;
        }
    }

    private void commit() throws SQLException {
        if (reading != null) {
            reading = null;
            locked = false;
            try (Statement statement = publisher.createStatement()) {
                statement.execute("COMMIT");
            }
        }
    }

    /** Ends them in order: the publisher's lock is gone and the origin removed. */
    void end() throws SQLException {
        commit();
        origin.close();
    }

    /** Ends them as they are; the servers roll back. The origin stays until {@link CopyOrigin#dropAll}. */
    void discard() {
        connections.discard(publisher);
        connections.discard(target);
    }

    private static PGConnection session(Connection connection) {
        try {
            return connection.unwrap(PGConnection.class);
        } catch (SQLException e) {
            throw new ApplyException(Kind.INTERNAL, "connection is not of the PostgreSQL driver", e);
        }
    }
}
