package dev.pgapply.core.target;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Truncation;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the target that applies changes. Owned by one thread; nobody else touches it. Every method that meets a server's
 * refusal throws {@link ApplyException} with the kind that the dialect gives it.
 *
 * <p>Order: {@link #begin}, then any number of executions and savepoints, then {@link #commit} or {@link #rollback}. After an error
 * of kind CONNECTION the outcome of whatever was under way is unknown and the session is closed.
 */
public interface TargetSession extends AutoCloseable {

    /** Begins a target transaction. It may be sent together with the first statement. */
    void begin();

    /**
     * Executes the net effect of a batch inside the open transaction.
     *
     * @return what was found; if {@link SetOutcome#needsExactReplay()}, the caller rolls back and replays exactly
     */
    SetOutcome execute(SetPlan plan);

    /**
     * Executes the net effect of a batch as the last of the open transaction, and commits as {@link #commit} does, in as few exchanges
     * with the target as there can be.
     *
     * @return what was found; if {@link SetOutcome#needsExactReplay()}, nothing is committed, and the caller rolls back and replays
     *     exactly
     */
    CommittedPlan executeAndCommit(SetPlan plan, Progress progress);

    /**
     * Executes one change with PostgreSQL's row-by-row semantics inside the open transaction: it finds exactly one row or none.
     */
    ChangeOutcome execute(Change change);

    void truncate(Truncation truncation);

    void savepoint(String name);

    /** Undoes everything since the savepoint, which stays defined. */
    void rollbackTo(String name);

    /**
     * Records the progress in the same transaction and commits it. When this returns, the rows are visible; they are durable once the
     * target has flushed the returned position.
     */
    LocalCommit commit(Progress progress);

    /** Ends the transaction without effect; harmless where none is open. */
    void rollback();

    /**
     * Records that there was nothing to apply up to a position, by a durable commit of its own. When this returns, every earlier commit
     * of this session is durable too.
     */
    void recordIdle(Lsn idleLsn);

    /** Up to where the target's WAL is durable (on its synchronous standbys too, where it has some). */
    Lsn flushedLsn();

    /**
     * Another session of the subscription has committed, outside of this one's transactions: from now on {@link #flushedLsn} sees to it
     * that this commit becomes durable, too.
     */
    void noteCommit(LocalCommit local);

    /** The server process of this session, as the server's views of locks name it. Any thread. */
    int backendPid();

    /**
     * What the session can do with prepared transactions.
     *
     * @throws ApplyException of kind PRECONDITION if the target has none
     */
    default TwoPhaseSession twoPhase() {
        throw new ApplyException(Kind.PRECONDITION, "the target has no prepared transactions");
    }

    /** Cuts the connection at once, whatever it is doing. The one method that another thread may call. */
    void abort();

    @Override
    void close();

    /** @param remoteLsn the commit's end_lsn */
    record Progress(Lsn remoteLsn, Instant remoteCommitTime) {}

    /**
     * @param localLsn a position of the target's WAL at or behind the commit record
     * @param flushedLsn up to where the target's WAL was durable when the commit was answered
     */
    record LocalCommit(Lsn localLsn, Lsn flushedLsn) {}

    /** @param local null if the plan needs an exact replay */
    record CommittedPlan(SetOutcome outcome, @Nullable LocalCommit local) {}
}
