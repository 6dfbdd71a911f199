package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.worker.jdbc.Pipeline;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.SessionCommit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Commits what a table sync worker replays: rows of one table, and no progress of the subscription. A copy whose end is not recorded is
 * redone, so nothing depends on which of these commits have happened. Owned by the table sync worker's thread.
 */
final class ReplayCommit implements SessionCommit {

    private static final LocalCommit NOT_FOLLOWED = new LocalCommit(Lsn.ZERO, Lsn.ZERO);

    private final Connection connection;
    private final Pipeline pipeline;

    ReplayCommit(Connection connection, Pipeline pipeline) {
        this.connection = connection;
        this.pipeline = pipeline;
    }

    @Override
    public void addRecord(Progress progress) throws SQLException {
        pipeline.add("SET CONSTRAINTS ALL IMMEDIATE");
    }

    @Override
    public void addCommit(Progress progress) throws SQLException {
        pipeline.add("COMMIT");
    }

    @Override
    public LocalCommit committed(Progress progress) {
        return NOT_FOLLOWED;
    }

    @Override
    public ApplyException unknown(SQLException e) {
        return PostgresErrors.applying(e);
    }

    @Override
    public void rollback() {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not roll back", e);
        }
    }

    @Override
    public void recordIdle(Lsn idleLsn) {
        throw new IllegalStateException("a replay has no progress");
    }

    @Override
    public void noteCommit(LocalCommit local) {
        throw new IllegalStateException("nobody else's commits are followed");
    }

    @Override
    public Lsn flushedLsn() {
        return Lsn.ZERO;
    }
}
