package dev.pgapply.core.transaction;

import dev.pgapply.core.Xid;

/**
 * A streamed transaction in progress, as the leader apply worker sees it. Owned by that worker's thread; it moves only through
 * {@link StreamedTransactions}.
 */
public final class StreamedTransaction {

    /** Where it stands. */
    public enum State {
        /** Between STREAM START and STREAM STOP: changes may come. */
        BLOCK_OPEN,
        /** Between two blocks: it may go on, or end. */
        BETWEEN_BLOCKS,
        /** It has ended by commit or prepare, or was aborted. */
        ENDED
    }

    private final Xid xid;
    private State state = State.BETWEEN_BLOCKS;
    private int segments;
    private TransApplyAction action;

    StreamedTransaction(Xid xid, TransApplyAction action) {
        this.xid = xid;
        this.action = requireStreamed(action);
    }

    private static TransApplyAction requireStreamed(TransApplyAction action) {
        return switch (action) {
            case LEADER_SERIALIZE, LEADER_SEND_TO_PARALLEL -> action;
            case LEADER_APPLY, LEADER_PARTIAL_SERIALIZE, PARALLEL_APPLY ->
                throw new IllegalArgumentException("a streamed transaction does not begin with " + action);
        };
    }

    /** The toplevel transaction's id. */
    public Xid xid() {
        return xid;
    }

    public State state() {
        return state;
    }

    /** How many stream blocks have begun. */
    public int segments() {
        return segments;
    }

    public TransApplyAction action() {
        return action;
    }

    /** The worker's queue stayed full: from now on the spool takes what comes. */
    public void sendTimedOut() {
        if (action != TransApplyAction.LEADER_SEND_TO_PARALLEL) {
            throw new IllegalStateException("transaction " + xid + " sends nothing to a worker: " + action);
        }
        action = TransApplyAction.LEADER_PARTIAL_SERIALIZE;
    }

    void beginSegment() {
        state = State.BLOCK_OPEN;
        segments++;
    }

    void endSegment() {
        state = State.BETWEEN_BLOCKS;
    }

    void end() {
        state = State.ENDED;
    }
}
