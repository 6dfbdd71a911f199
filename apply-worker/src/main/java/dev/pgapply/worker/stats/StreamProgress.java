package dev.pgapply.worker.stats;

import dev.pgapply.core.Xid;
import dev.pgapply.core.transaction.TransApplyAction;
import org.jspecify.annotations.Nullable;

/**
 * A streamed transaction in progress, as of the end of its last block.
 *
 * @param worker the number of its parallel apply worker, null if it has none
 * @param spooledBytes what its spool files take
 * @param segments how many stream blocks have come
 * @param subxacts how many subtransactions have changes that are not undone
 */
public record StreamProgress(
        Xid xid, TransApplyAction action, @Nullable Integer worker, long spooledBytes, int segments, int subxacts) {

    /** How many spool files it has. */
    public int spoolFiles() {
        return (spooledBytes > 0 ? 1 : 0) + (worker == null && subxacts > 0 ? 1 : 0);
    }
}
