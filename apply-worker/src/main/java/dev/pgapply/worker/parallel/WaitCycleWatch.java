package dev.pgapply.worker.parallel;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds wait cycles that only the target knows of: a unique key or a trigger that the publisher does not have lets a session that the
 * leader waits for wait for a streamed transaction in progress, which ends only when the leader goes on. PostgreSQL makes its own lock
 * manager see that (applyparallelworker.c, "Locking Considerations"); here the target is asked who blocks whom. Owned by its watch's
 * thread.
 *
 * <p>The transaction in progress is rolled back and the life of the subscription ends; when the stream is sent again, that transaction is
 * spooled, and applied in commit order.
 */
public final class WaitCycleWatch {

    private static final Logger log = LoggerFactory.getLogger(WaitCycleWatch.class);

    private final ParallelApplyWorkerPool pool;
    private final IntSupplier leaderPid;
    private final IntSupplier catalogPid;
    private final Supplier<Map<Integer, Set<Integer>>> lockWaits;
    private final Consumer<ApplyException> ended;

    /**
     * @param catalogPid the session that reads descriptions, 0 for none
     * @param lockWaits the target's sessions that have waited for a lock for a while, each with those that block it
     * @param ended told why this life of the subscription ends
     */
    public WaitCycleWatch(
            ParallelApplyWorkerPool pool,
            IntSupplier leaderPid,
            IntSupplier catalogPid,
            Supplier<Map<Integer, Set<Integer>>> lockWaits,
            Consumer<ApplyException> ended) {
        this.pool = pool;
        this.leaderPid = leaderPid;
        this.catalogPid = catalogPid;
        this.lockWaits = lockWaits;
        this.ended = ended;
    }

    /** Looks once; called about every second. */
    public void attend() {
        if (pool.workers().stream().noneMatch(WaitCycleWatch::isInProgress)) {
            return;
        }
        Map<Integer, Set<Integer>> waits = lockWaits.get();
        if (waits.isEmpty()) {
            return;
        }
        Set<Integer> waitedFor = new HashSet<>(Set.of(leaderPid.getAsInt()));
        waitedFor.add(catalogPid.getAsInt());
        for (ParallelApplyWorker worker : pool.workers()) {
            if (worker.isFinishing()) {
                waitedFor.add(worker.backendPid());
            }
        }
        Set<Integer> blockers = blockersOf(waitedFor, waits);
        for (ParallelApplyWorker worker : pool.workers()) {
            Xid xid = worker.xid();
            if (xid != null && isInProgress(worker) && blockers.contains(worker.backendPid())) {
                breakCycle(worker, xid);
            }
        }
    }

    private static boolean isInProgress(ParallelApplyWorker worker) {
        return worker.xid() != null && !worker.isFinishing() && worker.failure() == null;
    }

    /** Who blocks one of the sessions, directly or through others. */
    static Set<Integer> blockersOf(Set<Integer> sessions, Map<Integer, Set<Integer>> waits) {
        Set<Integer> blockers = new HashSet<>();
        Deque<Integer> left = new ArrayDeque<>(sessions);
        for (Integer session = left.poll(); session != null; session = left.poll()) {
            for (Integer blocker : waits.getOrDefault(session, Set.of())) {
                if (blockers.add(blocker)) {
                    left.add(blocker);
                }
            }
        }
        return blockers;
    }

    private void breakCycle(ParallelApplyWorker worker, Xid xid) {
        ApplyException reason = ApplyException.withHint(
                Kind.TRANSIENT,
                "wait cycle on the target: the leader waits for a session that streamed transaction " + xid
                        + ", in progress in parallel apply worker " + worker.number() + ", blocks",
                "a unique key, trigger or lock that only the target has; the transaction is sent again and applied when it has committed");
        log.warn("{}; it is rolled back, sent again and spooled", reason.getMessage());
        ended.accept(reason);
        pool.breakCycle(worker, xid, reason);
    }
}
