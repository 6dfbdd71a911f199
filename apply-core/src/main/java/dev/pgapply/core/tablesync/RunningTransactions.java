package dev.pgapply.core.tablesync;

import java.util.List;

/**
 * What xl_running_xacts says, as it can be had from outside: full transaction ids (xid8), unsigned and without wraparound. Immutable.
 *
 * @param xids the top-level transactions that run or are prepared, in any database, oldest first
 * @param oldestRunningXid the oldest of all; {@code nextXid} if none runs
 * @param nextXid no transaction with this id or a later one was seen
 */
public record RunningTransactions(List<Long> xids, long oldestRunningXid, long nextXid) {

    public RunningTransactions {
        xids = List.copyOf(xids);
        if (Long.compareUnsigned(oldestRunningXid, nextXid) > 0) {
            throw new IllegalArgumentException("oldest running xid " + Long.toUnsignedString(oldestRunningXid)
                    + " is not before next xid " + Long.toUnsignedString(nextXid));
        }
    }

    /**
     * From a snapshot and the transactions that the statistics views list. Neither is enough: a snapshot's xmax is the latest
     * <em>completed</em> id plus one, so that transactions which began later are not in it; and the views are not read at one moment.
     *
     * @param snapshotXmin pg_snapshot_xmin(pg_current_snapshot())
     * @param snapshotXmax pg_snapshot_xmax(pg_current_snapshot())
     * @param xids pg_stat_activity.backend_xid and pg_prepared_xacts.transaction, as {@link #fullXid} makes them whole
     */
    public static RunningTransactions of(long snapshotXmin, long snapshotXmax, List<Long> xids) {
        List<Long> sorted = xids.stream().sorted(Long::compareUnsigned).toList();
        long next = snapshotXmax;
        long oldest = snapshotXmin;
        boolean runs = Long.compareUnsigned(snapshotXmin, snapshotXmax) < 0;
        if (!sorted.isEmpty()) {
            long newest = sorted.get(sorted.size() - 1);
            next = Long.compareUnsigned(newest, next) >= 0 ? newest + 1 : next;
            oldest = runs && Long.compareUnsigned(oldest, sorted.get(0)) < 0 ? oldest : sorted.get(0);
            runs = true;
        }
        return new RunningTransactions(sorted, runs ? oldest : next, next);
    }

    /** The full id of a 32-bit one that lies within two billion ids of a full one (FullTransactionIdFromXidAndCtx's rule). */
    public static long fullXid(int xid, long near) {
        return near + (xid - (int) near);
    }
}
