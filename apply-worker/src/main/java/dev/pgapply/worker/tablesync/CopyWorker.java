package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.CopyOut;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies tables, one after another, under a snapshot that it imports: one thread with one session on each side. A table's rows and its
 * state s are one commit on the target, so it is there whole or not at all.
 */
final class CopyWorker implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(CopyWorker.class);

    private static final long SHOW_EVERY_NANOS = 200_000_000L;

    private final CopyConnections connections;
    private final SnapshotCopy snapshot;
    private final Queue<TableCopy> tables;
    private final Consumer<@Nullable ApplyException> ended;
    private final CopyPipe pipe = new CopyPipe();

    private volatile int targetPid;
    private volatile boolean targetRefused;

    /**
     * @param tables shared with the other workers
     * @param ended told once, on this thread: null when no table is left, else why the copy cannot go on
     */
    CopyWorker(
            CopyConnections connections,
            SnapshotCopy snapshot,
            Queue<TableCopy> tables,
            Consumer<@Nullable ApplyException> ended) {
        this.connections = connections;
        this.snapshot = snapshot;
        this.tables = tables;
        this.ended = ended;
    }

    /** The process of this worker's session on the target, 0 before it is open. Any thread. */
    int targetPid() {
        return targetPid;
    }

    /** Says that the target session's transaction has failed, which the driver does not look for during a COPY. Any thread. */
    void setTargetRefused() {
        targetRefused = true;
    }

    @Override
    public void run() {
        ApplyException failure = null;
        try {
            copyAll();
        } catch (ApplyException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            failure = new ApplyException(Kind.INTERNAL, "the copy failed: " + e, e);
        } finally {
            ended.accept(failure);
        }
    }

    private void copyAll() {
        Connection publisher = connections.openPublisher();
        Connection target = connections.openTarget();
        targetPid = session(target).getBackendPID();
        for (TableCopy copy = tables.poll(); copy != null; copy = tables.poll()) {
            Thread.currentThread().setName("tablesync/" + connections.subscription() + "/" + copy.name());
            try {
                copy(publisher, target, copy);
            } catch (SQLException e) {
                throw failed(copy, PostgresErrors.translate("", e));
            } catch (ApplyException e) {
                throw failed(copy, e);
            }
        }
    }

    private ApplyException failed(TableCopy copy, ApplyException reason) {
        if (!connections.isClosed()) {
            snapshot.show(copy, TableSyncState.DATASYNC, 0, 0, reason.getMessage());
            snapshot.stats().syncTableErrors.increment();
        }
        return new ApplyException(
                reason.kind(),
                "could not copy table \"" + copy.name() + "\": " + reason.getMessage(),
                reason.hint(),
                reason.sqlState(),
                reason.column(),
                reason);
    }

    private void copy(Connection publisher, Connection target, TableCopy copy) throws SQLException {
        snapshot.show(copy, TableSyncState.DATASYNC, 0, 0, null);
        snapshot.recordBegun(target, copy);
        SnapshotHolder.importSnapshot(publisher, snapshot.snapshotName());
        lock(publisher, copy);
        requireUnchanged(publisher, copy);
        CopyPipe.Result result;
        try (Statement statement = target.createStatement()) {
            statement.execute("BEGIN");
            result = pipe.carry(copyOut(publisher, copy), copyIn(target, copy), new Progress(copy));
            snapshot.recordDone(target, copy, result.rowsSent(), result.bytes());
            statement.execute("COMMIT");
        }
        try (Statement statement = publisher.createStatement()) {
            statement.execute("COMMIT");
        }
        snapshot.show(copy, TableSyncState.SYNCDONE, result.rowsSent(), result.bytes(), null);
        log(copy, result);
    }

    private void log(TableCopy copy, CopyPipe.Result result) {
        if (result.rowsTaken() < result.rowsSent()) {
            log.warn(
                    "subscription \"{}\": table \"{}\": the target's triggers suppressed {} of {} rows",
                    connections.subscription(),
                    copy.name(),
                    result.rowsSent() - result.rowsTaken(),
                    result.rowsSent());
        }
        if (log.isInfoEnabled()) {
            log.info(
                    "subscription \"{}\": table \"{}\" is copied: {} rows, {} bytes{}",
                    connections.subscription(),
                    copy.name(),
                    result.rowsSent(),
                    result.bytes(),
                    copy.binary() ? "" : " (text format)");
        }
    }

    private static CopyOut copyOut(Connection publisher, TableCopy copy) throws SQLException {
        return copyApi(publisher).copyOut(copy.copyOut());
    }

    private static CopyIn copyIn(Connection target, TableCopy copy) throws SQLException {
        return copyApi(target).copyIn(copy.copyIn());
    }

    private static CopyManager copyApi(Connection connection) throws SQLException {
        return session(connection).getCopyAPI();
    }

    private static PGConnection session(Connection connection) {
        try {
            return connection.unwrap(PGConnection.class);
        } catch (SQLException e) {
            throw new ApplyException(Kind.INTERNAL, "connection is not of the PostgreSQL driver", e);
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
     * that was detached is not read at all. Under the lock neither can happen any more. What was attached since may be read: it is in
     * the publisher's table too.
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

    /** What the pipe tells after each row, on this worker's thread. */
    private final class Progress implements CopyPipe.RowListener {

        private final TableCopy copy;
        private long shownAtNanos;

        Progress(TableCopy copy) {
            this.copy = copy;
            this.shownAtNanos = snapshot.ticker().nanos();
        }

        @Override
        public void copied(long rows, long bytes) {
            long now = snapshot.ticker().nanos();
            if (now - shownAtNanos >= SHOW_EVERY_NANOS) {
                shownAtNanos = now;
                snapshot.show(copy, TableSyncState.DATASYNC, rows, bytes, null);
            }
        }

        @Override
        public boolean targetRefused() {
            return targetRefused;
        }
    }
}
