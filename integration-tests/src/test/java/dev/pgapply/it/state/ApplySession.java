package dev.pgapply.it.state;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.jdbc.Pipeline;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.TransactionEnd;
import dev.pgapply.worker.origin.ProgressCommit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** A target session as the engine's: through the fence, with progress; its statements are the test's. */
final class ApplySession implements AutoCloseable {

    static final Instant COMMIT_TIME = Instant.parse("2026-01-02T03:04:05.678901Z");

    final Connection connection;
    final ProgressCommit commit;
    final AtomicLong nanos;

    private final TransactionEnd end;

    private ApplySession(Connection connection, Pipeline pipeline, ProgressCommit commit, AtomicLong nanos) {
        this.connection = connection;
        this.commit = commit;
        this.end = new TransactionEnd(connection, pipeline, commit);
        this.nanos = nanos;
    }

    static ApplySession open(PostgresConnections connections, EpochFence fence) {
        Connection connection = connections.openTarget("pgapply orders apply");
        try {
            fence.enter(connection);
            AtomicLong nanos = new AtomicLong();
            Pipeline pipeline = new Pipeline(connection);
            return new ApplySession(
                    connection, pipeline, ProgressCommit.open(connection, pipeline, fence.subid(), nanos::get), nanos);
        } catch (RuntimeException e) {
            PostgresConnections.cut(connection);
            throw e;
        }
    }

    void execute(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** One remote transaction that inserts one row. */
    LocalCommit apply(int id, String endLsn) {
        execute("BEGIN; INSERT INTO public.t VALUES (" + id + ", " + id + ")");
        return commit(Lsn.parse(endLsn));
    }

    /** Commits what the test's statements have begun. */
    LocalCommit commit(Lsn endLsn) {
        return end.commit(new Progress(endLsn, COMMIT_TIME));
    }

    @Override
    public void close() {
        PostgresConnections.cut(connection);
    }
}
