package dev.pgapply.worker.origin;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Up to where the target's WAL is durable. Where the target has synchronous standbys, that is what as many of them as
 * {@code synchronous_standby_names} asks for have flushed: a commit with {@code synchronous_commit = off} does not wait for them, and a
 * position confirmed to the publisher must survive a failover to any of them. That needs the rights of {@code pg_read_all_stats}
 * ({@code pg_monitor} has them); a role without them sees no standby's position, and the server's own flush position is taken. Owned by
 * the apply session's thread.
 */
final class TargetWal {

    /** What a commit's message ends with: {@link #committed} reads the answer. */
    static final String POSITIONS = "SELECT pg_current_wal_insert_lsn()::text, pg_current_wal_flush_lsn()::text,"
            + " current_setting('synchronous_standby_names')";

    private static final String LAYOUT = "SELECT current_setting('wal_block_size')::int,"
            + " (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'),"
            + " pg_has_role('pg_read_all_stats', 'USAGE')";

    // walsender.c, pg_stat_get_wal_senders; a standby that is still catching up does not count (syncrep.c,
    // SyncRepGetCandidateStandbys).
    private static final String STANDBYS = "SELECT flush_lsn::text FROM pg_stat_replication"
            + " WHERE sync_state IN ('sync', 'quorum') AND state IN ('streaming', 'stopping') AND flush_lsn IS NOT NULL"
            + " ORDER BY flush_lsn DESC";

    private final PreparedStatement positions;
    private final PreparedStatement standbys;
    private final WalLayout layout;
    private final boolean seesStandbys;

    private Lsn durableOnStandbys = Lsn.ZERO;

    TargetWal(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LAYOUT);
                ResultSet row = statement.executeQuery()) {
            row.next();
            layout = new WalLayout(row.getInt(1), row.getLong(2));
            seesStandbys = row.getBoolean(3);
        }
        positions = connection.prepareStatement(POSITIONS);
        standbys = connection.prepareStatement(STANDBYS);
    }

    /** @param row the answer to {@link #POSITIONS}, asked behind the COMMIT in the same message */
    LocalCommit committed(ResultSet row) throws SQLException {
        Lsn insertLsn = Lsn.parse(row.getString(1));
        Lsn flushLsn = layout.durable(Lsn.parse(row.getString(2)));
        boolean waitsForStandbys =
                seesStandbys && SynchronousStandbys.parse(row.getString(3)).count() > 0;
        // One more round trip in each commit would be too dear: the next flushedLsn() asks for the standbys.
        return new LocalCommit(insertLsn, waitsForStandbys ? durableOnStandbys : flushLsn);
    }

    Lsn flushedLsn() throws SQLException {
        Lsn flushLsn;
        int needed;
        try (ResultSet row = positions.executeQuery()) {
            row.next();
            flushLsn = layout.durable(Lsn.parse(row.getString(2)));
            needed = SynchronousStandbys.parse(row.getString(3)).count();
        }
        if (needed == 0 || !seesStandbys) {
            return flushLsn;
        }
        List<Lsn> flushed = new ArrayList<>();
        try (ResultSet rows = standbys.executeQuery()) {
            while (rows.next()) {
                flushed.add(layout.durable(Lsn.parse(rows.getString(1))));
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
