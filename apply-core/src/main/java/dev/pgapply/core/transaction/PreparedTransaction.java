package dev.pgapply.core.transaction;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/**
 * A transaction that the publisher has prepared, as its PREPARE names it. Position and time tell it from another one whose xid was the
 * same (worker.c, apply_handle_rollback_prepared: LookupGXact).
 *
 * @param prepareEndLsn the position after the PREPARE record
 * @param prepareTime when the publisher prepared it
 */
public record PreparedTransaction(Xid xid, Lsn prepareEndLsn, Instant prepareTime) {

    /** Its name on the target (worker.c, TwoPhaseTransactionGid); the publisher's own may be in use there. */
    public String gid(int subid) {
        return gid(subid, xid);
    }

    /** The name on the target of a transaction of that xid. */
    public static String gid(int subid, Xid xid) {
        return "pg_gid_" + subid + "_" + xid;
    }
}
