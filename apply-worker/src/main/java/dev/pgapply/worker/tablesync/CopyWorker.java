package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.origin.CopyOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies parts of tables, one after another, under a snapshot that it imports: one thread with one session on each side. Each part is a
 * commit on the target; state s is recorded in that of a table's only part, else when the last of its parts is committed. What a crash
 * leaves in state d may have some of its rows.
 */
final class CopyWorker implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(CopyWorker.class);

    private static final long SHOW_EVERY_NANOS = 200_000_000L;

    private static final Pattern COPY_SPOT = Pattern.compile("^COPY .*?, line \\d+(, column [^:\n]+)?");

    private final CopyConnections connections;
    private final SnapshotCopy snapshot;
    private final Queue<CopyPart> parts;
    private final Consumer<@Nullable ApplyException> ended;
    private final CopyPipe pipe;

    private @Nullable CopyingTable locked;

    private volatile int targetPid;
    private volatile boolean targetRefused;

    /**
     * @param parts shared with the other workers
     * @param wideRows shared with the other workers
     * @param ended told once, on this thread: null when no table is left, else why the copy cannot go on
     */
    CopyWorker(
            CopyConnections connections,
            SnapshotCopy snapshot,
            Queue<CopyPart> parts,
            WideRows wideRows,
            Consumer<@Nullable ApplyException> ended) {
        this.connections = connections;
        this.snapshot = snapshot;
        this.parts = parts;
        this.pipe = new CopyPipe(wideRows);
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
        try (CopyOrigin unused = CopyOrigin.attach(target, snapshot.tables().subid())) {
            for (CopyPart part = parts.poll(); part != null; part = parts.poll()) {
                Thread.currentThread()
                        .setName("tablesync/" + connections.subscription() + "/"
                                + part.copy().name());
                try {
                    copy(publisher, target, part);
                } catch (SQLException e) {
                    throw failed(part.copy(), PostgresErrors.translate("", e), where(e));
                } catch (ApplyException e) {
                    throw failed(part.copy(), e, "");
                }
            }
            unlock(publisher);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not end a session of the copy", e);
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

    private void copy(Connection publisher, Connection target, CopyPart part) throws SQLException {
        CopyingTable table = part.table();
        table.begin(snapshot.ticker().nanos(), () -> snapshot.recordBegun(target, table.copy()));
        show(table, TableSyncState.DATASYNC);
        lock(publisher, table);
        try (Statement statement = target.createStatement()) {
            statement.execute("BEGIN");
            Progress progress = new Progress(table);
            CopyPipe.Result result = pipe.carry(
                    copyApi(publisher).copyOut(part.copyOut()),
                    copyApi(target).copyIn(part.copy().copyIn()),
                    part.mayBeWide(),
                    progress);
            progress.end(result);
            if (table.isOnePart()) {
                snapshot.recordDone(target, table.copy(), table.rows(), table.bytes());
            }
            statement.execute("COMMIT");
            warnOfSuppressed(part, result);
        }
        if (table.partCommitted()) {
            if (!table.isOnePart()) {
                snapshot.recordDone(target, table.copy(), table.rows(), table.bytes());
            }
            show(table, snapshot.done());
            log(table);
        }
    }

    /** The lock and the snapshot stay for all parts of the table that this worker takes one after another. */
    private void lock(Connection publisher, CopyingTable table) throws SQLException {
        if (table != locked) {
            unlock(publisher);
            SnapshotHolder.importSnapshot(publisher, snapshot.snapshotName());
            PublishedTableLock.take(publisher, table);
            locked = table;
        }
    }

    private void unlock(Connection publisher) throws SQLException {
        if (locked != null) {
            locked = null;
            try (Statement statement = publisher.createStatement()) {
                statement.execute("COMMIT");
            }
        }
    }

    private void show(CopyingTable table, TableSyncState state) {
        snapshot.show(
                table.copy(),
                state,
                table.rows(),
                table.bytes(),
                Duration.ofNanos(table.nanosSinceBegin(snapshot.ticker().nanos())),
                null);
    }

    private void warnOfSuppressed(CopyPart part, CopyPipe.Result result) {
        if (result.rowsTaken() < result.rowsSent()) {
            log.warn(
                    "subscription \"{}\": table \"{}\": the target's triggers suppressed {} of {} rows",
                    connections.subscription(),
                    part.copy().name(),
                    result.rowsSent() - result.rowsTaken(),
                    result.rowsSent());
        }
    }

    private void log(CopyingTable table) {
        if (log.isInfoEnabled()) {
            log.info(
                    "subscription \"{}\": table \"{}\" is copied: {} rows, {} bytes in {} ms{}{}",
                    connections.subscription(),
                    table.copy().name(),
                    table.rows(),
                    table.bytes(),
                    table.nanosSinceBegin(snapshot.ticker().nanos()) / 1_000_000,
                    table.isOnePart() ? "" : ", in parts",
                    table.copy().binary() ? "" : " (text format)");
        }
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

        private final CopyingTable table;
        private long shownAtNanos;
        private long toldRows;
        private long toldBytes;

        Progress(CopyingTable table) {
            this.table = table;
            this.shownAtNanos = snapshot.ticker().nanos();
        }

        @Override
        public void copied(long rows, long bytes) {
            long now = snapshot.ticker().nanos();
            if (now - shownAtNanos >= SHOW_EVERY_NANOS) {
                shownAtNanos = now;
                tell(rows, bytes);
                show(table, TableSyncState.DATASYNC);
            }
        }

        /** The publisher's count: a binary COPY's trailer is no row. */
        void end(CopyPipe.Result result) {
            tell(result.rowsSent(), result.bytes());
        }

        private void tell(long rows, long bytes) {
            table.add(rows - toldRows, bytes - toldBytes);
            toldRows = rows;
            toldBytes = bytes;
        }

        @Override
        public boolean targetRefused() {
            return targetRefused;
        }
    }
}
