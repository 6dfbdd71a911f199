package dev.pgapply.core.batch;

import dev.pgapply.core.Lsn;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sealed changes for one target transaction: either several whole transactions that share one commit, or one slice of a transaction
 * that is larger than a batch. Immutable, and the owner of its bytes: nothing that the leader does later changes what it says.
 *
 * @param transactions in the publisher's commit order; one only if it is not whole
 * @param plan the net effect for the fast path; null if this batch must be applied exactly
 * @param byteCount what its messages took on the wire
 */
public record ChangeBatch(
        List<TransactionSlice> transactions, @Nullable SetPlan plan, long byteCount) {

    public ChangeBatch {
        transactions = List.copyOf(transactions);
        if (transactions.isEmpty()) {
            throw new IllegalArgumentException("a batch holds at least one transaction");
        }
        for (TransactionSlice slice : transactions) {
            if (!slice.isWhole() && transactions.size() > 1) {
                throw new IllegalArgumentException("transaction " + slice.xid() + " is a part and shares its batch");
            }
        }
    }

    public TransactionSlice firstSlice() {
        return transactions.get(0);
    }

    public TransactionSlice lastSlice() {
        return transactions.get(transactions.size() - 1);
    }

    /** Whether the target transaction stays open behind this batch. */
    public boolean isUnfinished() {
        return lastSlice().end() == null;
    }

    /** The end_lsn that the target's progress reaches by this batch, or null if it leaves a transaction unfinished. */
    public @Nullable Lsn endLsn() {
        TransactionSlice.End end = lastSlice().end();
        return end == null ? null : end.endLsn();
    }
}
