package dev.pgapply.core.transaction;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * What the target says of a prepared transaction, and what is to be done about each message of it. Pure. The positions play no part: a
 * PREPARE below the confirmed one is sent again with its COMMIT PREPARED (reorderbuffer.c, ReorderBufferFinishPrepared), so that only
 * the target's record says whether it was executed.
 *
 * <pre>
 *   recorded  prepared  finished   it is
 *   -         -         -          unknown, or finished with its progress recorded
 *   yes       -         -          about to be prepared, or rolled back
 *   yes       yes       -          prepared
 *   yes       -         yes        committed, its progress not recorded yet
 * </pre>
 *
 * @param recorded the row that was committed before PREPARE TRANSACTION, or null
 * @param prepared whether the target's database has a prepared transaction of that name
 * @param finished whether the row is there that the prepared transaction itself inserts: it is committed
 */
public record PreparedStanding(@Nullable PreparedTransaction recorded, boolean prepared, boolean finished) {

    /** What a PREPARE asks for. */
    public enum OnPrepare {
        EXECUTE,
        /** It was executed: it is prepared, or committed already. */
        ALREADY_DONE
    }

    /** What a COMMIT PREPARED asks for. */
    public enum OnCommit {
        COMMIT,
        /** It was committed, and the engine ended before it could say so. */
        ALREADY_DONE
    }

    /** What a ROLLBACK PREPARED asks for. */
    public enum OnRollback {
        ROLL_BACK,
        /** It was rolled back, or never got as far as being prepared; only the record is left. */
        ALREADY_DONE,
        /** This transaction never was here: it was sent before two_phase was enabled, or not at all. */
        IGNORE
    }

    /** @throws ApplyException of kind STATE_MISMATCH if another transaction of that name is prepared */
    public OnPrepare onPrepare(PreparedTransaction message, String gid) {
        boolean same = message.equals(recorded);
        if (prepared && !same) {
            throw ApplyException.withHint(
                    Kind.STATE_MISMATCH,
                    "transaction identifier \"" + gid + "\" is already in use on the target, "
                            + (recorded == null
                                    ? "and no record of this subscription says by what"
                                    : "by a transaction prepared as of " + recorded.prepareEndLsn()
                                            + "; the publisher's is of " + message.prepareEndLsn()),
                    "look at it in pg_prepared_xacts and end it by COMMIT PREPARED or ROLLBACK PREPARED");
        }
        return same && (prepared || finished) ? OnPrepare.ALREADY_DONE : OnPrepare.EXECUTE;
    }

    /** @throws ApplyException of kind STATE_MISMATCH if nothing is known of the transaction */
    public OnCommit onCommit(Xid xid, String gid) {
        if (finished) {
            return OnCommit.ALREADY_DONE;
        }
        if (prepared && recorded != null) {
            return OnCommit.COMMIT;
        }
        throw ApplyException.withHint(
                Kind.STATE_MISMATCH,
                "prepared transaction with identifier \"" + gid + "\" does not exist"
                        + (prepared ? " as one of this subscription" : "") + ", so the publisher's transaction " + xid
                        + " cannot be committed",
                "somebody ended it on the target: its changes are missing there; drop the subscription, empty its tables and"
                        + " start it anew");
    }

    /** @throws ApplyException of kind STATE_MISMATCH if it was committed here */
    public OnRollback onRollback(PreparedTransaction message, String gid) {
        if (!message.equals(recorded)) {
            return OnRollback.IGNORE;
        }
        if (finished) {
            throw ApplyException.withHint(
                    Kind.STATE_MISMATCH,
                    "the publisher rolled transaction " + message.xid()
                            + " back, but somebody committed it on the target as \"" + gid + "\"",
                    "undo its changes on the target and delete its rows from pgapply.prepared_transaction, or drop the"
                            + " subscription, empty its tables and start it anew");
        }
        return prepared ? OnRollback.ROLL_BACK : OnRollback.ALREADY_DONE;
    }
}
