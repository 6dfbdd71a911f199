package dev.pgapply.worker.origin;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.worker.jdbc.Pipeline;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.SessionCommit;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStats.OriginSnapshot;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits the transactions of an apply session, with the progress as part of each: a row of {@code pgapply.origin_status}, and the
 * native origin beside it. Owned by the apply session's thread, on the session's connection, which is in autocommit mode: transactions are
 * begun and ended by statements.
 *
 * <p>A commit has two parts. The first records the progress and makes deferred constraints speak up, so that an error of the data
 * still leaves a session that can be rolled back. The second is {@code xact_setup}, COMMIT and the positions behind it: from
 * PostgreSQL 16 on, whatever aborts after {@code xact_setup} moves the origin although the rows are gone (xact.c,
 * RecordTransactionAbort), so nothing may stand between it and COMMIT, and all of it is in one message. An error of the COMMIT itself
 * leaves the outcome unknown and the session closed.
 */
public final class ProgressCommit implements SessionCommit {

    private static final Logger log = LoggerFactory.getLogger(ProgressCommit.class);

    // The cast raises where the row is gone or not before the new progress; a count of zero rows would let the COMMIT
    // behind it pass.
    private static final String NO_SUCH_ROW = "no row of pgapply.origin_status is before this progress: ";

    private static final String RECORD = "WITH moved AS (UPDATE pgapply.origin_status SET remote_lsn = ?::text::pg_lsn,"
            + " remote_commit_time = ?::text::timestamptz WHERE subid = ?::int AND apply_session = ?::int"
            + " AND remote_lsn < ?::text::pg_lsn RETURNING 1) SELECT CASE count(*) WHEN 1 THEN 1 ELSE ('" + NO_SUCH_ROW
            + "' || count(*))::int END FROM moved";

    private static final String CHECK_CONSTRAINTS = "SET CONSTRAINTS ALL IMMEDIATE";

    private static final String XACT_SETUP =
            "SELECT pg_replication_origin_xact_setup(?::text::pg_lsn, ?::text::timestamptz)";

    private static final String RECORD_IDLE = "BEGIN; SET LOCAL synchronous_commit = on;"
            + " UPDATE pgapply.origin_status SET idle_lsn = greatest(idle_lsn, ?) WHERE subid = ? AND apply_session = ?; COMMIT";

    private final Connection connection;
    private final int subid;
    private final int applySession;
    private final NativeOrigin origin;
    private final TargetWal wal;
    private final Pipeline pipeline;
    private final PreparedStatement recordIdle;

    private Lsn remoteLsn;
    private @Nullable Instant remoteCommitTime;
    private @Nullable Lsn localLsn;

    /** What the last commit's message was answered with. */
    private @Nullable LocalCommit committed;

    /** Of this session's commits and those that it was told of. */
    private @Nullable Lsn newestLocalLsn;

    private ProgressCommit(
            Connection connection, Pipeline pipeline, int subid, int applySession, OriginStatus recorded, Ticker ticker)
            throws SQLException {
        this.connection = connection;
        this.pipeline = pipeline;
        this.subid = subid;
        this.applySession = applySession;
        this.remoteLsn = recorded.remoteLsn();
        this.remoteCommitTime = recorded.remoteCommitTime();
        this.wal = new TargetWal(connection, subid);
        this.recordIdle = connection.prepareStatement(RECORD_IDLE);
        this.origin = new NativeOrigin(connection, NativeOrigin.name(subid, applySession), ticker);
        origin.attachIfDue(remoteLsn);
    }

    /**
     * Reads the recorded progress and sets up the native origin where that can be had.
     *
     * @param connection a session that has passed the epoch fence, in autocommit mode; it stays the caller's to close
     * @param pipeline on that connection; what ends a transaction is added to it
     */
    public static ProgressCommit open(Connection connection, Pipeline pipeline, int subid, Ticker ticker) {
        return open(connection, pipeline, subid, OriginStatus.LEADER_SESSION, ticker);
    }

    /**
     * The same for any apply session.
     *
     * @param applySession 0 for the leader's session, else a parallel apply worker's number, whose row is created when missing
     */
    public static ProgressCommit open(
            Connection connection, Pipeline pipeline, int subid, int applySession, Ticker ticker) {
        OriginStatus recorded = applySession == OriginStatus.LEADER_SESSION
                ? OriginStatus.read(connection, subid)
                : OriginStatus.readOrCreate(connection, subid, applySession);
        try {
            return new ProgressCommit(connection, pipeline, subid, applySession, recorded, ticker);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not prepare the apply session", e);
        }
    }

    @Override
    public void addRecord(Progress progress) throws SQLException {
        String lsn = progress.remoteLsn().toString();
        pipeline.add(
                RECORD, List.of(lsn, progress.remoteCommitTime().toString(), (long) subid, (long) applySession, lsn));
        pipeline.add(CHECK_CONSTRAINTS);
    }

    @Override
    public void addCommit(Progress progress) throws SQLException {
        if (origin.isAttached()) {
            pipeline.add(
                    XACT_SETUP,
                    List.of(
                            progress.remoteLsn().toString(),
                            progress.remoteCommitTime().toString()));
        }
        pipeline.add("COMMIT");
        committed = null;
        pipeline.add(TargetWal.COMMIT_POSITIONS, List.of(), (row, count) -> {
            if (row != null && row.next()) {
                committed = wal.committed(row);
            }
        });
    }

    /** The rows are visible; they are durable once {@link #flushedLsn} has reached the returned local position. */
    @Override
    public LocalCommit committed(Progress progress) {
        LocalCommit local = committed;
        if (local == null) {
            throw unknown(new SQLException("the server did not answer with its WAL positions", "08P01"));
        }
        remoteLsn = progress.remoteLsn();
        remoteCommitTime = progress.remoteCommitTime();
        localLsn = local.localLsn();
        newestLocalLsn = local.localLsn();
        attachOrigin();
        return local;
    }

    @Override
    public ApplyException refused(SQLException e) {
        if (String.valueOf(e.getMessage()).contains(NO_SUCH_ROW)) {
            return new ApplyException(
                    Kind.STATE_MISMATCH,
                    "could not record progress: the row of subscription id " + subid
                            + " in pgapply.origin_status is missing or already there; this session last recorded "
                            + remoteLsn,
                    e);
        }
        return PostgresErrors.applying(e);
    }

    @Override
    public ApplyException unknown(SQLException e) {
        return abort(
                PostgresErrors.translate("could not commit; whether the transaction is in the target is unknown", e));
    }

    /** Between transactions: an origin that was still in use at the start may be free by now. */
    private void attachOrigin() {
        try {
            origin.attachIfDue(remoteLsn);
        } catch (SQLException e) {
            // The commit has happened and is reported; the next statement finds the connection gone.
            log.debug("connection lost behind a commit", e);
        }
    }

    /** Ends the open transaction without effect; harmless where none is open. */
    @Override
    public void rollback() {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            throw abort(PostgresErrors.translate("could not roll back", e));
        }
    }

    /**
     * Records, by a commit of its own with synchronous_commit = on, that there was nothing to apply up to a position. When this returns, it
     * and every earlier commit of this session are durable. Needs a session without an open transaction.
     */
    @Override
    public void recordIdle(Lsn idleLsn) {
        try {
            origin.attachIfDue(remoteLsn);
            recordIdle.setObject(1, idleLsn.toString(), Types.OTHER);
            recordIdle.setInt(2, subid);
            recordIdle.setInt(3, applySession);
            recordIdle.execute();
            int rows = 0;
            while (recordIdle.getUpdateCount() != -1) {
                rows += recordIdle.getUpdateCount();
                recordIdle.getMoreResults();
            }
            if (rows != 1) {
                throw OriginStatus.missing(subid);
            }
        } catch (SQLException e) {
            throw abort(PostgresErrors.translate("could not record idle position " + idleLsn, e));
        }
    }

    /**
     * Up to where the target's WAL is durable, on its synchronous standbys too where it has some that the role can see (pg_read_all_stats).
     * Asked every 200 ms or so while commits wait to be durable.
     */
    @Override
    public Lsn flushedLsn() {
        try {
            return wal.flushedLsn(newestLocalLsn);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not ask the target how far its WAL is flushed", e);
        }
    }

    @Override
    public void noteCommit(LocalCommit local) {
        Lsn newest = newestLocalLsn;
        newestLocalLsn = newest == null ? local.localLsn() : newest.max(local.localLsn());
    }

    @Override
    public TwoPhaseSession twoPhase() {
        return new PreparedTransactionRecord(connection, subid);
    }

    /** The end_lsn of the last transaction that this session committed, or that it found in the record. */
    public Lsn remoteLsn() {
        return remoteLsn;
    }

    /** Shows the progress after the last commit. */
    void show(SubscriptionStats stats) {
        if (applySession == OriginStatus.LEADER_SESSION) {
            stats.setOrigin(snapshot());
            return;
        }
        stats.setParallelOrigin(
                applySession,
                new OriginSnapshot.Session("parallel " + applySession, remoteLsn, localLsn),
                remoteCommitTime);
    }

    /** What to show of the leader's progress. */
    public OriginSnapshot snapshot() {
        return new OriginSnapshot(
                NativeOrigin.name(subid),
                origin.isAttached(),
                remoteLsn,
                localLsn,
                remoteCommitTime,
                List.of(new OriginSnapshot.Session("apply", remoteLsn, localLsn)));
    }

    private ApplyException abort(ApplyException failure) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }
}
