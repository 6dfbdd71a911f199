package dev.pgapply.worker.stats;

import org.jspecify.annotations.Nullable;

/**
 * A worker of a subscription as pg_stat_subscription shows it: one row each.
 *
 * @param subid the subscription's number
 * @param workerType {@code apply} or {@code parallel apply}
 * @param pid the server process of its session on the target
 * @param leaderPid the leader's, null for the leader itself
 */
public record WorkerProgress(
        int subid, String workerType, int pid, @Nullable Integer leaderPid) {}
