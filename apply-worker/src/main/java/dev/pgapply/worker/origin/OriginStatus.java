package dev.pgapply.worker.origin;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The record of a subscription's progress: its row in {@code pgapply.origin_status}, which is written in every target transaction and
 * so says exactly which remote commits are in the target. What PostgreSQL keeps in {@code pg_replication_origin_status} is never asked.
 *
 * @param remoteLsn the end_lsn of the newest transaction in the target; {@link Lsn#ZERO} before the first
 * @param remoteCommitTime when that transaction was committed on the publisher; null before the first
 * @param idleLsn up to where the publisher had nothing to apply, recorded before it was confirmed to the publisher
 */
public record OriginStatus(Lsn remoteLsn, @Nullable Instant remoteCommitTime, Lsn idleLsn) {

    /** The number of the leader's apply session, the only one that ordinary transactions are applied by. */
    public static final int LEADER_SESSION = 0;

    // Commits are ordered, so of several sessions the greatest remote_lsn counts.
    private static final String SELECT = "SELECT remote_lsn::text, remote_commit_time,"
            + " (SELECT max(idle_lsn)::text FROM pgapply.origin_status WHERE subid = ?)"
            + " FROM pgapply.origin_status WHERE subid = ? ORDER BY remote_lsn DESC LIMIT 1";

    private static final String CREATE_AND_SELECT_SESSION =
            "INSERT INTO pgapply.origin_status (subid, apply_session) VALUES (?, ?) ON CONFLICT DO NOTHING;"
                    + " SELECT remote_lsn::text, remote_commit_time FROM pgapply.origin_status"
                    + " WHERE subid = ? AND apply_session = ?";

    /**
     * Reads the record. It is the truth only once the older sessions are fenced off, so it is read after the takeover.
     *
     * @throws ApplyException of kind STATE_MISMATCH if the subscription has no record
     */
    public static OriginStatus read(Connection connection, int subid) {
        try (PreparedStatement statement = connection.prepareStatement(SELECT)) {
            statement.setInt(1, subid);
            statement.setInt(2, subid);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw missing(subid);
                }
                OffsetDateTime time = row.getObject(2, OffsetDateTime.class);
                return new OriginStatus(
                        Lsn.parse(row.getString(1)),
                        time == null ? null : time.toInstant(),
                        Lsn.parse(row.getString(3)));
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the recorded progress", e);
        }
    }

    /** Reads the record of a parallel apply worker's session alone, creating it where there is none. */
    static OriginStatus readOrCreate(Connection connection, int subid, int applySession) {
        try (PreparedStatement statement = connection.prepareStatement(CREATE_AND_SELECT_SESSION)) {
            for (int i = 1; i <= 4; i += 2) {
                statement.setInt(i, subid);
                statement.setInt(i + 1, applySession);
            }
            boolean isResultSet = statement.execute();
            if (!isResultSet) {
                statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) {
                if (!row.next()) {
                    throw missing(subid);
                }
                OffsetDateTime time = row.getObject(2, OffsetDateTime.class);
                return new OriginStatus(Lsn.parse(row.getString(1)), time == null ? null : time.toInstant(), Lsn.ZERO);
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the recorded progress of apply session " + applySession, e);
        }
    }

    static ApplyException missing(int subid) {
        return ApplyException.withHint(
                Kind.STATE_MISMATCH,
                "pgapply.origin_status has no row for subscription id " + subid,
                "somebody removed it by hand: without it nobody knows which transactions are in the target; drop the subscription,"
                        + " empty its tables and start it anew");
    }

    /** Where a start lets the publisher begin; a slot that has confirmed more than this has skipped something. */
    public Lsn startLsn() {
        return remoteLsn.max(idleLsn);
    }
}
