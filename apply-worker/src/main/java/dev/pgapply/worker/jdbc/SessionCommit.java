package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.target.TwoPhaseSession;
import java.sql.Connection;

/**
 * How the transactions of one target session end: with the progress recorded in them. The session itself begins them: its BEGIN
 * travels with the first statement. Owned by the session's thread; the connection is in autocommit mode, and transactions are begun and
 * ended by statements.
 */
public interface SessionCommit {

    /** Makes the commit of a session that has just been let in by the fence. */
    @FunctionalInterface
    interface Factory {
        /** @param applySession 0 for the leader's session, else a parallel apply worker's number */
        SessionCommit open(Connection connection, int applySession);
    }

    /** Records the progress in the open transaction and commits it. */
    LocalCommit commit(Progress progress);

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
