package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * Ends a session's transactions in as few messages as is safe. Owned by the session's thread.
 *
 * <p>The record of the progress travels with the last rows. The commit itself goes with them, too, where no answer to them could forbid it;
 * else it is a message of its own. Either way an error of the data skips all that is behind it in its message (protocol-flow.html,
 * "Extended Query"), so that it leaves a transaction that can be rolled back, and never reaches the commit's statements.
 */
public final class TransactionEnd {

    /** More than any commit adds. */
    private static final int COMMIT_STATEMENTS = 6;

    private final Connection connection;
    private final Pipeline pipeline;
    private final SessionCommit commit;

    /**
     * @param connection the session's, in autocommit mode
     * @param pipeline the session's, on that connection
     * @param commit adds to that pipeline
     */
    public TransactionEnd(Connection connection, Pipeline pipeline, SessionCommit commit) {
        this.connection = connection;
        this.pipeline = pipeline;
        this.commit = commit;
    }

    /**
     * Sends what the pipeline holds, records the progress and commits, in two messages.
     *
     * @throws ApplyException as {@link #record} and {@link #complete}
     */
    public LocalCommit commit(Progress progress) {
        record(progress);
        return complete(progress);
    }

    /**
     * Sends what the pipeline holds, with the record of the progress behind it.
     *
     * @throws ApplyException with the transaction open, to be rolled back; or the connection is lost
     */
    void record(Progress progress) {
        try {
            commit.addRecord(progress);
            pipeline.flush();
        } catch (SQLException e) {
            throw commit.refused(e);
        }
    }

    /**
     * Commits what was recorded.
     *
     * @throws ApplyException with the connection closed: whether the transaction is committed is unknown
     */
    LocalCommit complete(Progress progress) {
        try {
            commit.addCommit(progress);
            pipeline.flush();
        } catch (SQLException e) {
            throw commit.unknown(e);
        }
        return commit.committed(progress);
    }

    /** Whether the commit can be sent in the message that the pipeline holds. */
    boolean fitsBehindRows() {
        return pipeline.hasRoomFor(COMMIT_STATEMENTS);
    }

    /**
     * The same as {@link #commit}, in one message.
     *
     * @throws ApplyException with the transaction open, to be rolled back, or with the connection closed
     */
    LocalCommit commitBehindRows(Progress progress) {
        try {
            commit.addRecord(progress);
            commit.addCommit(progress);
            pipeline.flush();
        } catch (SQLException e) {
            throw isOpenAndFailed() ? commit.refused(e) : commit.unknown(e);
        }
        return commit.committed(progress);
    }

    /** As the server said when it was ready for the next message: then it has not come to the COMMIT. */
    private boolean isOpenAndFailed() {
        try {
            return connection.unwrap(BaseConnection.class).getTransactionState() == TransactionState.FAILED;
        } catch (SQLException e) {
            return false;
        }
    }
}
