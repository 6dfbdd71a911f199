package dev.pgapply.core.transaction;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The streamed transactions in progress, by toplevel xid, and the one whose stream block is open (worker.c: in_streamed_transaction,
 * stream_xid). Owned by the leader apply worker's thread.
 *
 * <pre>
 *   START (first segment)            START
 *          │                      ┌─────────┐
 *          ▼                      │         │
 *     BLOCK_OPEN ──STOP──▶ BETWEEN_BLOCKS ──┘
 *     (one of all)                │
 *                                 └──COMMIT, PREPARE, ABORT of the toplevel transaction──▶ ENDED, forgotten
 * </pre>
 *
 * Whatever else the publisher sends is a protocol violation, in PostgreSQL's sentence where it has one. An ABORT of a transaction that
 * is not known is no violation: the publisher sends it, too, where it has streamed nothing.
 */
public final class StreamedTransactions {

    private final Map<Xid, StreamedTransaction> inProgress = new LinkedHashMap<>();
    private @Nullable StreamedTransaction block;

    /**
     * STREAM START: a block begins (apply_handle_stream_start).
     *
     * @param ordinary the ordinary transaction that has begun and not ended, or null: blocks come between those
     * @param action what is to be done with the transaction; asked only in its first segment
     */
    public StreamedTransaction start(
            Xid xid, boolean firstSegment, @Nullable Xid ordinary, Supplier<TransApplyAction> action) {
        if (block != null) {
            throw violation("duplicate STREAM START message: transaction " + xid + " in a stream block of transaction "
                    + block.xid());
        }
        if (ordinary != null) {
            throw violation("STREAM START message of transaction " + xid + " inside transaction " + ordinary);
        }
        StreamedTransaction known = inProgress.get(xid);
        if (firstSegment && known != null) {
            throw violation("first segment of transaction " + xid + " came twice");
        }
        if (!firstSegment && known == null) {
            throw violation("first segment of transaction " + xid + " is missing");
        }
        StreamedTransaction transaction = known == null ? new StreamedTransaction(xid, action.get()) : known;
        inProgress.put(xid, transaction);
        transaction.beginSegment();
        block = transaction;
        return transaction;
    }

    /** Whether the transaction is in progress. */
    public boolean isKnown(Xid xid) {
        return inProgress.containsKey(xid);
    }

    /** STREAM STOP: the open block ends (apply_handle_stream_stop). */
    public StreamedTransaction stop() {
        StreamedTransaction transaction = block;
        if (transaction == null) {
            throw violation("STREAM STOP message without STREAM START");
        }
        transaction.endSegment();
        block = null;
        return transaction;
    }

    /** The transaction whose block is open, or null outside of stream blocks. */
    public @Nullable StreamedTransaction block() {
        return block;
    }

    /**
     * A change in the open block.
     *
     * @param message what it is, for the sentence
     * @param subxid the xid that it carries
     */
    public StreamedTransaction change(String message, @Nullable Xid subxid) {
        StreamedTransaction transaction = block;
        if (transaction == null) {
            throw violation(message + " message outside a stream block");
        }
        if (subxid == null || subxid.value() == 0) {
            throw violation("invalid transaction ID in streamed replication transaction " + transaction.xid());
        }
        return transaction;
    }

    /** STREAM COMMIT or STREAM PREPARE: the transaction ends, and is forgotten here (apply_handle_stream_commit). */
    public StreamedTransaction end(String message, Xid xid) {
        requireNoBlock(message, xid);
        StreamedTransaction transaction = inProgress.remove(xid);
        if (transaction == null) {
            throw violation(message + " message of transaction " + xid + ", which is not being streamed");
        }
        transaction.end();
        return transaction;
    }

    /**
     * STREAM ABORT (apply_handle_stream_abort). The toplevel transaction's ends it; a subtransaction's leaves it in progress.
     *
     * @return the transaction, or null if nothing is known of it: then there is nothing to undo
     */
    public @Nullable StreamedTransaction abort(Xid xid, Xid subxid) {
        requireNoBlock("STREAM ABORT", xid);
        if (!xid.equals(subxid)) {
            return inProgress.get(xid);
        }
        StreamedTransaction transaction = inProgress.remove(xid);
        if (transaction != null) {
            transaction.end();
        }
        return transaction;
    }

    /**
     * Checks that no block is open where an ordinary transaction's message, or another transaction's end, comes.
     *
     * @throws ApplyException of kind PROTOCOL_VIOLATION
     */
    public void requireNoBlock(String message, Xid xid) {
        StreamedTransaction open = block;
        if (open != null) {
            throw violation(message + " message without STREAM STOP: transaction " + xid
                    + " in a stream block of transaction " + open.xid());
        }
    }

    public boolean isEmpty() {
        return inProgress.isEmpty();
    }

    /** Those in progress, in the order they began. */
    public List<StreamedTransaction> inProgress() {
        return new ArrayList<>(inProgress.values());
    }

    private static ApplyException violation(String message) {
        return new ApplyException(Kind.PROTOCOL_VIOLATION, message);
    }
}
