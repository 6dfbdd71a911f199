package dev.pgapply.worker.stats;

import dev.pgapply.core.Xid;
import dev.pgapply.core.transaction.TransApplyAction;

/**
 * A streamed transaction in progress, as of the end of its last block.
 *
 * @param spooledBytes what its spool files take
 * @param segments how many stream blocks have come
 * @param subxacts how many subtransactions have changes in the spool
 */
public record StreamProgress(Xid xid, TransApplyAction action, long spooledBytes, int segments, int subxacts) {

    /** How many spool files it has. */
    public int spoolFiles() {
        return (spooledBytes > 0 ? 1 : 0) + (subxacts > 0 ? 1 : 0);
    }
}
