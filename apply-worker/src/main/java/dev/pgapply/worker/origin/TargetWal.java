package dev.pgapply.worker.origin;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Up to where the target's WAL is durable. Where the target has synchronous standbys, that is what as many of them as
 * {@code synchronous_standby_names} asks for have flushed: a commit with {@code synchronous_commit = off} does not wait for them, and a
 * position confirmed to the publisher must survive a failover to any of them. That needs the rights of {@code pg_read_all_stats}
 * ({@code pg_monitor} has them); a role without them sees no standby's position, and the server's own flush position is taken. Owned by
 * the apply session's thread.
 */
final class TargetWal {

    /** What a commit's message ends with: {@link #committed} reads the answer, which is short enough to be waited for with the rest. */
    static final String COMMIT_POSITIONS = "SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn(),"
            + " current_setting('synchronous_standby_names') <> ''";

    private static final String POSITIONS =
            "SELECT pg_current_wal_insert_lsn()::text, pg_current_wal_flush_lsn()::text,"
                    + " current_setting('synchronous_standby_names')";

    private static final String SEES_STANDBYS = "SELECT pg_has_role('pg_read_all_stats', 'USAGE')";

    // walsender.c, pg_stat_get_wal_senders; a standby that is still catching up does not count (syncrep.c,
    // SyncRepGetCandidateStandbys).
    private static final String STANDBYS = "SELECT flush_lsn::text FROM pg_stat_replication"
            + " WHERE sync_state IN ('sync', 'quorum') AND state IN ('streaming', 'stopping') AND flush_lsn IS NOT NULL"
            + " ORDER BY flush_lsn DESC";

    // Any row will do; "local" does not wait for standbys.
    private static final String FLUSH = "BEGIN; SET LOCAL synchronous_commit = local;"
            + " UPDATE pgapply.origin_status SET idle_lsn = idle_lsn WHERE subid = ? AND apply_session = ?; COMMIT";

    private final PreparedStatement positions;
    private final PreparedStatement standbys;
    private final PreparedStatement flush;
    private final boolean seesStandbys;

    private Lsn previousFlushLsn = Lsn.ZERO;
    private Lsn durableOnStandbys = Lsn.ZERO;

    TargetWal(Connection connection, int subid) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SEES_STANDBYS);
                ResultSet row = statement.executeQuery()) {
            row.next();
            seesStandbys = row.getBoolean(1);
        }
        positions = connection.prepareStatement(POSITIONS);
        standbys = connection.prepareStatement(STANDBYS);
        flush = connection.prepareStatement(FLUSH);
        flush.setInt(1, subid);
        flush.setInt(2, OriginStatus.LEADER_SESSION);
    }

    /** @param row the answer to {@link #COMMIT_POSITIONS}, asked behind the COMMIT in the same message */
    LocalCommit committed(ResultSet row) throws SQLException {
        Lsn insertLsn = Lsn.parse(row.getString(1));
        Lsn flushLsn = Lsn.parse(row.getString(2));
        boolean waitsForStandbys = seesStandbys && row.getBoolean(3);
        // One more round trip in each commit would be too dear: the next flushedLsn() asks for the standbys.
        return new LocalCommit(insertLsn, waitsForStandbys ? durableOnStandbys : flushLsn);
    }

    /**
     * Asked every so often while a commit waits to be durable. The position taken behind a commit may lie beyond its record: behind another
     * session's record, or behind the next page's header where the record ends with its page (xlog.c, XLogBytePosToRecPtr). The WAL
     * writer stops at the commit's record (XLogBackgroundFlush); so where nothing moves from one call to the next, a small commit of
     * our own moves it.
     *
     * @param committedLsn the local position of the last commit, null if there was none
     */
    Lsn flushedLsn(@Nullable Lsn committedLsn) throws SQLException {
        Positions now = positions();
        if (committedLsn != null
                && now.flushLsn().isBefore(committedLsn)
                && now.flushLsn().equals(previousFlushLsn)) {
            flush.execute();
            now = positions();
        }
        previousFlushLsn = now.flushLsn();
        return now.standbysNeeded() == 0 || !seesStandbys
                ? now.flushLsn()
                : onStandbys(now.flushLsn(), now.standbysNeeded());
    }

    private record Positions(Lsn flushLsn, int standbysNeeded) {}

    private Positions positions() throws SQLException {
        try (ResultSet row = positions.executeQuery()) {
            row.next();
            return new Positions(
                    Lsn.parse(row.getString(2)),
                    SynchronousStandbys.parse(row.getString(3)).count());
        }
    }

    private Lsn onStandbys(Lsn flushLsn, int needed) throws SQLException {
        List<Lsn> flushed = new ArrayList<>();
        try (ResultSet rows = standbys.executeQuery()) {
            while (rows.next()) {
                flushed.add(Lsn.parse(rows.getString(1)));
            }
        }
        // Both FIRST n (n rows are "sync") and ANY n (all are "quorum") are satisfied up to the n-th greatest position.
        if (flushed.size() >= needed) {
            Lsn onStandbys = flushed.get(needed - 1);
            durableOnStandbys = durableOnStandbys.max(onStandbys.isBefore(flushLsn) ? onStandbys : flushLsn);
        }
        return durableOnStandbys;
    }
}
