package dev.pgapply.it.dialect;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.worker.jdbc.Pipeline;
import dev.pgapply.worker.jdbc.SessionCommit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Ends transactions without recording any progress. */
record PlainCommit(Connection connection, Pipeline pipeline) implements SessionCommit {

    @Override
    public void addRecord(Progress progress) {}

    @Override
    public void addCommit(Progress progress) throws SQLException {
        pipeline.add("COMMIT");
    }

    @Override
    public LocalCommit committed(Progress progress) {
        return new LocalCommit(progress.remoteLsn(), progress.remoteLsn());
    }

    @Override
    public ApplyException unknown(SQLException e) {
        throw new IllegalStateException(e);
    }

    @Override
    public void rollback() {
        run("ROLLBACK");
    }

    @Override
    public void recordIdle(Lsn idleLsn) {
        run("SELECT 1");
    }

    @Override
    public void noteCommit(LocalCommit local) {}

    @Override
    public Lsn flushedLsn() {
        return Lsn.ZERO;
    }

    private void run(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
