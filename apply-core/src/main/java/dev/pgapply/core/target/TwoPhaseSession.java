package dev.pgapply.core.target;

import dev.pgapply.core.Xid;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedTransaction;

/**
 * What a target session can do that has prepared transactions. Owned by the session's thread; the connection is closed after an error
 * of {@link #prepare}, {@link #commitPrepared} or {@link #rollbackPrepared}, since its outcome is unknown.
 *
 * <p>Order: {@link #recordIntent}, {@link #mayPrepare}, {@link TargetSession#begin}, executions, {@link #prepare}; then the progress by a commit of its own,
 * for a row that a prepared transaction has updated would stay locked. At the end {@link #commitPrepared} or {@link #rollbackPrepared},
 * and the progress in one commit with {@link #forget}.
 */
public interface TwoPhaseSession {

    /** What the target knows of the transaction of that xid, read outside of transactions. */
    PreparedStanding standing(Xid xid);

    /** The name that a transaction of that xid has on the target. */
    String gid(Xid xid);

    /** Commits, outside of transactions, that the transaction is about to be prepared, on this session or another. */
    void recordIntent(PreparedTransaction transaction);

    /**
     * What is begun next on this session is, or may come to be, prepared: nobody knows how a streamed transaction ends when it begins.
     */
    void mayPrepare(Xid xid);

    /** Prepares the open transaction, which from then on says itself that it is finished when it is committed. Durable when it returns. */
    void prepare(PreparedTransaction transaction);

    /** Commits a prepared transaction. Durable when it returns. */
    void commitPrepared(Xid xid);

    /** Rolls a prepared transaction back. Durable when it returns. */
    void rollbackPrepared(Xid xid);

    /** Removes, in the open transaction, what is recorded of a transaction. */
    void forget(Xid xid);
}
