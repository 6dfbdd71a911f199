package dev.pgapply.worker.parallel;

import dev.pgapply.core.Xid;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The streamed transactions that get no parallel apply worker when they are sent again, because they were part of a wait cycle, or failed
 * in a worker: what fails in stream order may be right in commit order. Nor does one that was prepared before its progress could be
 * recorded: a worker would wait for its own rows. It lives as long as the process, over all lives of the subscription. Any thread.
 */
public final class SpoolOnlyTransactions {

    /** Nobody tells when a transaction has ended for good, and to forget one costs no more than another wait cycle. */
    private static final int MAX_COUNT = 1000;

    private final Set<Xid> xids = ConcurrentHashMap.newKeySet();

    /** From now on the transaction is spooled. */
    public void add(Xid xid) {
        if (xids.size() >= MAX_COUNT) {
            xids.clear();
        }
        xids.add(xid);
    }

    boolean contains(Xid xid) {
        return xids.contains(xid);
    }
}
