package dev.pgapply.core.transaction;

import dev.pgapply.core.subscription.StreamingMode;

/**
 * Who does what with a transaction's messages (worker.c, TransApplyAction). Decided in one place, {@link #decide}; a streamed
 * transaction keeps its action to its end, but for one move:
 *
 * <pre>
 *   LEADER_APPLY                                        ordinary
 *   LEADER_SERIALIZE                                    streamed, no worker
 *   LEADER_SEND_TO_PARALLEL ──send timed out──▶ LEADER_PARTIAL_SERIALIZE
 *   PARALLEL_APPLY                                      the same transaction, as its worker sees it
 * </pre>
 */
public enum TransApplyAction {
    /** An ordinary transaction: the leader's session applies its changes, batched with others. */
    LEADER_APPLY,
    /** A streamed one without a worker: its messages go to the spool, and the leader replays them at the end. */
    LEADER_SERIALIZE,
    /** A streamed one with a worker: its messages go to the worker's queue. */
    LEADER_SEND_TO_PARALLEL,
    /** A streamed one whose worker's queue stayed full: the rest goes to the spool, and the worker reads it at the end. */
    LEADER_PARTIAL_SERIALIZE,
    /** In a parallel apply worker: apply at once, with savepoints. */
    PARALLEL_APPLY;

    /** The worker of a streamed transaction. */
    public enum Assignment {
        /** It has none. */
        NONE,
        /** It has one, which takes what it is sent. */
        ASSIGNED,
        /** It has one, but a send took longer than {@code stream_send_timeout}, now or before. */
        SEND_TIMED_OUT
    }

    /**
     * What the decision needs to know.
     *
     * @param inParallelApplyWorker whether a parallel apply worker asks, not the leader
     * @param streamed whether the transaction is streamed; false: ordinary
     * @param assignment the worker that the transaction has already
     * @param choice what may give it one; looked at only in its first segment
     */
    public record Situation(
            boolean inParallelApplyWorker, boolean streamed, Assignment assignment, WorkerChoice choice) {}

    /**
     * Whether a streamed transaction gets a worker when its first segment begins (applyparallelworker.c, pa_can_start,
     * pa_allocate_worker).
     *
     * @param firstSegment whether that is now: later it is too late, since what came before is in the spool
     * @param workerAvailable whether the pool has or may start one that is free
     * @param allTablesReady whether every table is in state READY: no LSN of the transaction is known that could be compared with a
     *     table's
     * @param skipLsnSet whether the operator wants to skip a transaction: it may be this one, and its finish LSN is known at its end
     * @param mustSpool whether the transaction was part of a wait cycle before it was sent again
     */
    public record WorkerChoice(
            StreamingMode streaming,
            boolean firstSegment,
            boolean workerAvailable,
            boolean allTablesReady,
            boolean skipLsnSet,
            boolean mustSpool) {

        boolean mayAssign() {
            return streaming == StreamingMode.PARALLEL
                    && firstSegment
                    && !skipLsnSet
                    && allTablesReady
                    && !mustSpool
                    && workerAvailable;
        }
    }

    /**
     * What is to be done with a transaction's messages (worker.c, get_transaction_apply_action). Where it says
     * LEADER_SEND_TO_PARALLEL and the transaction has no worker, the caller assigns one.
     */
    public static TransApplyAction decide(Situation situation) {
        if (situation.inParallelApplyWorker()) {
            return PARALLEL_APPLY;
        }
        if (!situation.streamed()) {
            return LEADER_APPLY;
        }
        return switch (situation.assignment()) {
            case SEND_TIMED_OUT -> LEADER_PARTIAL_SERIALIZE;
            case ASSIGNED -> LEADER_SEND_TO_PARALLEL;
            case NONE -> situation.choice().mayAssign() ? LEADER_SEND_TO_PARALLEL : LEADER_SERIALIZE;
        };
    }
}
