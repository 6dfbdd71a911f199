package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies parts of tables, one after another, under a snapshot that it imports: one thread with one session on each side. Each part is a
 * commit on the target; state s is recorded in that of a table's only part, else when the last of its parts is committed. What a crash
 * leaves in state d may have some of its rows. A table that fails is left to {@link Listener}, and the worker goes on with the next.
 */
final class CopyWorker implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(CopyWorker.class);

    private static final long SHOW_EVERY_NANOS = 200_000_000L;

    private static final Pattern COPY_SPOT = Pattern.compile("^COPY .*?, line \\d+(, column [^:\n]+)?");

    /** Told on the worker's thread. */
    interface Listener {

        /** A table cannot be copied from this snapshot; told once a table. */
        void failed(TableCopy copy, ApplyException reason);

        /** @param failure null: no part is left; else why the copy cannot go on */
        void ended(@Nullable ApplyException failure);
    }

    private final CopyConnections connections;
    private final SnapshotCopy snapshot;
    private final Queue<CopyPart> parts;
    private final Listener listener;
    private final CopyPipe pipe;

    private volatile int targetPid;
    private volatile boolean targetRefused;

    /**
     * @param parts shared with the other workers
     * @param wideRows shared with the other workers
     */
    CopyWorker(
            CopyConnections connections,
            SnapshotCopy snapshot,
            Queue<CopyPart> parts,
            WideRows wideRows,
            Listener listener) {
        this.connections = connections;
        this.snapshot = snapshot;
        this.parts = parts;
        this.pipe = new CopyPipe(wideRows);
        this.listener = listener;
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
            listener.ended(failure);
        }
    }

    private void copyAll() {
        CopySessions sessions = open();
        try {
            for (CopyPart part = parts.poll(); part != null; part = parts.poll()) {
                if (part.table().hasFailed()) {
                    continue;
                }
                Thread.currentThread()
                        .setName("tablesync/" + connections.subscription() + "/"
                                + part.copy().name());
                sessions.read(part.table(), snapshot.snapshotName());
                ApplyException failure = tryCopy(sessions, part);
                if (failure != null) {
                    failed(part, failure);
                    sessions.discard();
                    sessions = open();
                }
            }
            sessions.end();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not end a session of the copy", e);
        }
    }

    private CopySessions open() {
        CopySessions opened = CopySessions.open(connections, snapshot.tables().subid());
        targetRefused = false;
        targetPid = opened.targetPid();
        return opened;
    }

    /** @return why the table could not be copied, or null */
    private @Nullable ApplyException tryCopy(CopySessions sessions, CopyPart part) {
        try {
            copy(sessions, part);
            return null;
        } catch (SQLException e) {
            return told(part.copy(), PostgresErrors.translate("", e), where(e));
        } catch (ApplyException e) {
            return told(part.copy(), e, "");
        }
    }

    /** @throws ApplyException the reason, where it has to do with more than the table */
    private void failed(CopyPart part, ApplyException reason) {
        boolean news = part.table().fail();
        if (news && !connections.isClosed()) {
            snapshot.show(part.copy(), TableSyncState.DATASYNC, 0, 0, reason.getMessage());
            snapshot.stats().syncTableErrors.increment();
        }
        if (connections.isClosed() || endsTheCopy(reason.kind())) {
            throw reason;
        }
        if (news) {
            listener.failed(part.copy(), reason);
        }
    }

    private static boolean endsTheCopy(Kind kind) {
        return kind == Kind.CONNECTION || kind == Kind.AUTHENTICATION || kind == Kind.OWNERSHIP_LOST;
    }

    private static ApplyException told(TableCopy copy, ApplyException reason, String where) {
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

    private void copy(CopySessions sessions, CopyPart part) throws SQLException {
        CopyingTable table = part.table();
        Connection target = sessions.target();
        table.begin(snapshot.ticker().nanos(), () -> snapshot.recordBegun(target, table.copy()));
        show(table, TableSyncState.DATASYNC);
        sessions.lock();
        try (Statement statement = target.createStatement()) {
            statement.execute("BEGIN");
            CopyPipe.Result result = carry(sessions, part);
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

    private CopyPipe.Result carry(CopySessions sessions, CopyPart part) throws SQLException {
        Progress progress = new Progress(part.table(), new CopyPauses(snapshot.pace()));
        CopyPipe.Result result = pipe.carry(
                sessions.publisherCopy().copyOut(part.copyOut()),
                sessions.targetCopy().copyIn(part.copy().copyIn()),
                part.mayBeWide(),
                progress);
        progress.end(result);
        return result;
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
                    "subscription \"{}\": table \"{}\" is copied: {} rows, {} bytes in {} ms{}{}{}",
                    connections.subscription(),
                    table.copy().name(),
                    table.rows(),
                    table.bytes(),
                    table.nanosSinceBegin(snapshot.ticker().nanos()) / 1_000_000,
                    table.isOnePart() ? "" : ", in parts",
                    table.copy().binary() ? "" : " (text format)",
                    table.pausedMillis() == 0 ? "" : ", pausing " + table.pausedMillis() + " ms for the stream");
        }
    }

    /** What the pipe tells after each row, on this worker's thread. */
    private final class Progress implements CopyPipe.RowListener {

        private final CopyingTable table;
        private final CopyPauses pauses;
        private long shownAtNanos;
        private long toldRows;
        private long toldBytes;

        Progress(CopyingTable table, CopyPauses pauses) {
            this.table = table;
            this.pauses = pauses;
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
            pauses.copied(bytes);
        }

        /** The publisher's count: a binary COPY's trailer is no row. */
        void end(CopyPipe.Result result) {
            tell(result.rowsSent(), result.bytes());
            table.addPause(pauses.pausedNanos());
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
