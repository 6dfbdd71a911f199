package dev.pgapply.worker.apply;

import dev.pgapply.core.Xid;
import dev.pgapply.core.relation.RelationOverlay;
import dev.pgapply.core.spool.SpoolWriter;
import dev.pgapply.core.transaction.StreamedTransaction;

/**
 * A streamed transaction with its spool and its relations. Owned by the leader apply worker's thread.
 *
 * @param overlay the relations that it was told of
 */
record SpooledTransaction(StreamedTransaction streamed, SpoolWriter writer, RelationOverlay overlay) {

    /** The toplevel transaction's. */
    Xid xid() {
        return streamed.xid();
    }
}
