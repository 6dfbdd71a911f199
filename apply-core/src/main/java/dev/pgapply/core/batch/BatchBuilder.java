package dev.pgapply.core.batch;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the steps of consecutive transactions and seals them into batches. Owned by the leader apply worker's thread; a sealed
 * batch is immutable and goes to the apply session's.
 *
 * <p>What a batch may hold:
 *
 * <pre>
 *   whole transactions   T1 T2 T3          one target commit for all of them
 *   part of one          T4 (first)        its target transaction stays open
 *   part of one          T4                ...
 *   end of one           T4 (end)          commits it; T5 begins another batch
 * </pre>
 *
 * A transaction is parted only if it is larger than a batch, or if the leader says that what follows needs another batch.
 */
public final class BatchBuilder {

    /** What a transaction without steps counts for, so that a run of empty ones is bounded as well. */
    private static final int EMPTY_TRANSACTION_ROWS = 1;

    private final BatchLimits limits;

    /** The end of a transaction that was parted; it comes before the whole ones. */
    private @Nullable TransactionSlice parted;

    private long partedBytes;
    private int partedRows;

    private List<TransactionSlice> whole = new ArrayList<>();
    private long wholeBytes;
    private int wholeRows;

    private @Nullable Open open;

    /** The transaction that has begun and not ended, or what is left of it behind the parts already sealed. */
    private static final class Open {
        final Xid xid;

        @Nullable
        Lsn finalLsn;

        boolean first = true;
        List<Step> steps = new ArrayList<>();
        long byteCount;

        Open(Xid xid, @Nullable Lsn finalLsn) {
            this.xid = xid;
            this.finalLsn = finalLsn;
        }

        TransactionSlice slice(TransactionSlice.@Nullable End end) {
            return new TransactionSlice(xid, finalLsn, first, steps, end);
        }
    }

    public BatchBuilder(BatchLimits limits) {
        this.limits = limits;
    }

    /** Begins a transaction behind those collected. */
    public void begin(Xid xid, Lsn finalLsn) {
        requireNoneOpen();
        open = new Open(xid, finalLsn);
    }

    /**
     * Begins a streamed transaction whose target transaction is open already: every slice continues that. Its finish LSN is known only
     * at its end.
     */
    public void resume(Xid xid) {
        requireNoneOpen();
        Open resumed = new Open(xid, null);
        resumed.first = false;
        open = resumed;
    }

    private void requireNoneOpen() {
        if (open != null) {
            throw new IllegalStateException("transaction " + open.xid + " has not ended");
        }
    }

    /**
     * Adds a step to the open transaction.
     *
     * @param wireBytes what its message took
     */
    public void add(Step step, int wireBytes) {
        Open transaction = requireOpen();
        transaction.steps.add(step);
        transaction.byteCount += wireBytes;
    }

    /** Ends the open transaction. One without steps is kept too: the progress moves over it. */
    public void commit(TransactionSlice.End end) {
        Open transaction = requireOpen();
        if (transaction.finalLsn == null) {
            transaction.finalLsn = end.commitLsn();
        }
        TransactionSlice slice = transaction.slice(end);
        int rows = Math.max(slice.steps().size(), EMPTY_TRANSACTION_ROWS);
        if (transaction.first) {
            whole.add(slice);
            wholeRows += rows;
            wholeBytes += transaction.byteCount;
        } else {
            parted = slice;
            partedRows = rows;
            partedBytes = transaction.byteCount;
        }
        open = null;
    }

    private Open requireOpen() {
        Open transaction = open;
        if (transaction == null) {
            throw new IllegalStateException("no transaction has begun");
        }
        return transaction;
    }

    /**
     * Forgets the open transaction's steps; those that ended stay. If a part of it was sealed before, the caller has to undo that part
     * on the target.
     */
    public void dropOpenTransaction() {
        open = null;
    }

    /** Forgets everything. */
    public void clear() {
        open = null;
        parted = null;
        whole = new ArrayList<>();
        wholeBytes = 0;
        wholeRows = 0;
    }

    /** Whether nothing is collected and no transaction has begun. */
    public boolean isEmpty() {
        return open == null && !hasWholeTransactions();
    }

    /** Whether a transaction has begun and not ended. */
    public boolean inTransaction() {
        return open != null;
    }

    /** Whether transactions that have ended wait to be sealed. */
    public boolean hasWholeTransactions() {
        return parted != null || !whole.isEmpty();
    }

    /** How many steps are collected. */
    public int rows() {
        int ended = wholeRows + (parted == null ? 0 : partedRows);
        return open == null ? ended : ended + open.steps.size();
    }

    /** What the collected steps took on the wire. */
    public long byteCount() {
        long ended = wholeBytes + (parted == null ? 0 : partedBytes);
        return open == null ? ended : ended + open.byteCount;
    }

    /** Whether a limit is reached, so that {@link #seal} is due. */
    public boolean isFull() {
        return rows() >= limits.maxRows() || byteCount() >= limits.maxBytes();
    }

    /**
     * Seals what has to go when a batch is full: the transactions that have ended; and the open one's part, if it alone is over a
     * limit. Where it is not, it stays open and may still become whole.
     */
    public List<ChangeBatch> seal() {
        Open transaction = open;
        boolean overLimit = transaction != null
                && (transaction.steps.size() >= limits.maxRows() || transaction.byteCount >= limits.maxBytes());
        return overLimit ? sealAll() : sealWhole();
    }

    /** Seals the transactions that have ended, in their order; the open one stays. */
    public List<ChangeBatch> sealWhole() {
        List<ChangeBatch> batches = new ArrayList<>();
        TransactionSlice end = parted;
        if (end != null) {
            batches.add(batch(List.of(end), partedBytes));
            parted = null;
        }
        if (!whole.isEmpty()) {
            batches.add(batch(whole, wholeBytes));
            whole = new ArrayList<>();
            wholeBytes = 0;
            wholeRows = 0;
        }
        return batches;
    }

    /** Seals everything that is collected, the open transaction's part too, because what follows needs another batch. */
    public List<ChangeBatch> sealAll() {
        List<ChangeBatch> batches = sealWhole();
        Open transaction = open;
        if (transaction != null && !transaction.steps.isEmpty()) {
            batches.add(batch(List.of(transaction.slice(null)), transaction.byteCount));
            transaction.first = false;
            transaction.steps = new ArrayList<>();
            transaction.byteCount = 0;
        }
        return batches;
    }

    private static ChangeBatch batch(List<TransactionSlice> transactions, long byteCount) {
        return new ChangeBatch(transactions, Compaction.plan(transactions), byteCount);
    }
}
