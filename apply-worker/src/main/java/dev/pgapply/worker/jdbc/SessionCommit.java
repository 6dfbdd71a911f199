package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.target.TwoPhaseSession;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * What ends the transactions of one target session: the progress recorded in them, and the commit. {@link TransactionEnd} decides how
 * many messages that takes. Owned by the session's thread; the connection is in autocommit mode, and transactions are begun and
 * ended by statements.
 */
public interface SessionCommit {

    /** Makes the commit of a session that has just been let in by the fence. */
    @FunctionalInterface
    interface Factory {
        /**
         * @param pipeline the session's, on that connection
         * @param applySession 0 for the leader's session, else a parallel apply worker's number
         */
        SessionCommit open(Connection connection, Pipeline pipeline, int applySession);
    }

    /** Adds to the pipeline what records the progress in the open transaction, and makes deferred constraints speak up. */
    void addRecord(Progress progress) throws SQLException;

    /** Adds to the pipeline what commits the transaction: to be sent in one message, with nothing behind it. */
    void addCommit(Progress progress) throws SQLException;

    /** What was added last was sent and answered: the transaction is committed. */
    LocalCommit committed(Progress progress);

    /** What an error means that came before the commit; the transaction is still open, and can only be rolled back. */
    default ApplyException refused(SQLException e) {
        return PostgresErrors.applying(e);
    }

    /** What an error means behind which the transaction may be committed or not. The connection is closed. */
    ApplyException unknown(SQLException e);

    /** Ends the open transaction without effect, whether or not it has failed. */
    void rollback();

    /** Records, outside a transaction, that there was nothing to apply up to a position; durable when this returns. */
    void recordIdle(Lsn idleLsn);

    /** Another session has committed: {@link #flushedLsn} sees to that commit, too. */
    void noteCommit(LocalCommit local);

    /** The same connection's prepared transactions. */
    default TwoPhaseSession twoPhase() {
        throw new ApplyException(Kind.PRECONDITION, "the session records no prepared transactions");
    }

    /** Up to where the target's WAL is durable; asked outside a transaction. */
    Lsn flushedLsn();
}
