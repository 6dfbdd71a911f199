package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.CopyOut;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies tables, one after another, under a snapshot that it imports: one thread with one session on each side. A table's rows and its
 * state s are one commit on the target, so it is there whole or not at all.
 */
final class CopyWorker implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(CopyWorker.class);

    private static final long SHOW_EVERY_NANOS = 200_000_000L;

    private static final Pattern COPY_SPOT = Pattern.compile("^COPY .*?, line \\d+(, column [^:\n]+)?");

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
                throw failed(copy, PostgresErrors.translate("", e), where(e));
            } catch (ApplyException e) {
                throw failed(copy, e, "");
            }
        }
    }

    private ApplyException failed(TableCopy copy, ApplyException reason, String where) {
        if (!connections.isClosed()) {
            snapshot.show(copy, TableSyncState.DATASYNC, 0, 0, reason.getMessage());
            snapshot.stats().syncTableErrors.increment();
        }
        return new ApplyException(
                reason.kind(),
                "could not copy table \"" + copy.name() + "\": " + reason.getMessage() + where,
                reason.hint(),
                reason.sqlState(),
                reason.column(),
                reason);
    }

    /** The server's own words for the spot: {@code COPY t, line 5, column id}, without the value. */
    private static String where(SQLException e) {
        ServerErrorMessage message = e instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
        String where = message == null ? null : message.getWhere();
        if (where == null || !where.startsWith("COPY ")) {
            return "";
        }
        Matcher spot = COPY_SPOT.matcher(where);
        return spot.find() ? " (" + spot.group() + ")" : "";
    }

    private void copy(Connection publisher, Connection target, TableCopy copy) throws SQLException {
        snapshot.show(copy, TableSyncState.DATASYNC, 0, 0, null);
        snapshot.recordBegun(target, copy);
        SnapshotHolder.importSnapshot(publisher, snapshot.snapshotName());
        PublishedTableLock.take(publisher, copy);
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
