package dev.pgapply.worker.parallel;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.ParallelApplyWorkers;
import dev.pgapply.worker.apply.StreamedTransactionApplier;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.WorkerProgress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parallel apply workers of one life of a subscription (applyparallelworker.c, ParallelApplyWorkerPool): at most so many, started
 * when a streamed transaction needs one, half of them kept when they have become free. Owned by the leader apply worker's thread;
 * {@link #workers} and {@link #close} may be called from others.
 */
public final class ParallelApplyWorkerPool implements ParallelApplyWorkers, AutoCloseable {

    /**
     * What the pool is made with.
     *
     * @param subid the subscription's number
     * @param maxWorkers {@code max_parallel_apply_workers_per_subscription}
     * @param maxQueueBytes what may wait for one worker
     * @param sendTimeout {@code stream_send_timeout}
     */
    public record Options(String subscription, int subid, int maxWorkers, long maxQueueBytes, Duration sendTimeout) {}

    /** Starts a worker of a number; it may fail with an ApplyException. */
    interface Starter extends IntFunction<ParallelApplyWorker> {}

    private static final String DEADLOCK_DETECTED = "40P01";

    private static final Logger log = LoggerFactory.getLogger(ParallelApplyWorkerPool.class);

    private final Options options;
    private final Starter starter;
    private final ApplySession leader;
    private final SpoolOnlyTransactions spoolOnly;
    private final SubscriptionStats stats;
    private final List<ParallelApplyWorker> workers = new CopyOnWriteArrayList<>();

    ParallelApplyWorkerPool(
            Options options,
            Starter starter,
            ApplySession leader,
            SpoolOnlyTransactions spoolOnly,
            SubscriptionStats stats) {
        this.options = options;
        this.starter = starter;
        this.leader = leader;
        this.spoolOnly = spoolOnly;
        this.stats = stats;
        show();
    }

    /** Opens an empty pool; sessions are opened as they are needed. */
    public static ParallelApplyWorkerPool open(
            Options options,
            AppliersOfSessions appliers,
            IntFunction<TargetSession> sessions,
            ApplySession leader,
            SpoolOnlyTransactions spoolOnly,
            SubscriptionStats stats) {
        Starter starter = number -> {
            TargetSession session = sessions.apply(number);
            return ParallelApplyWorker.start(
                    options.subscription(), number, session, appliers.applier(session), options.maxQueueBytes());
        };
        return new ParallelApplyWorkerPool(options, starter, leader, spoolOnly, stats);
    }

    /** Makes what applies transactions on a session. */
    @FunctionalInterface
    public interface AppliersOfSessions {
        StreamedTransactionApplier applier(TargetSession session);
    }

    /** Those that run now. Any thread. */
    List<ParallelApplyWorker> workers() {
        return workers;
    }

    @Override
    public boolean mustSpool(Xid xid) {
        return spoolOnly.contains(xid);
    }

    @Override
    public @Nullable Worker assign(Xid xid) {
        throwFailure();
        ParallelApplyWorker worker = free();
        if (worker == null) {
            worker = startAnother();
        }
        if (worker == null) {
            return null;
        }
        worker.begin(xid);
        show();
        return new Assigned(worker);
    }

    private @Nullable ParallelApplyWorker free() {
        for (ParallelApplyWorker worker : workers) {
            if (worker.xid() == null) {
                return worker;
            }
        }
        return null;
    }

    /** pa_launch_parallel_worker: where none can be had, the transaction is spooled. */
    private @Nullable ParallelApplyWorker startAnother() {
        if (workers.size() >= options.maxWorkers()) {
            return null;
        }
        try {
            ParallelApplyWorker started = starter.apply(freeNumber());
            workers.add(started);
            return started;
        } catch (ApplyException e) {
            if (e.kind() == Kind.OWNERSHIP_LOST) {
                throw e;
            }
            log.warn("could not start a parallel apply worker, the transaction is spooled: {}", e.getMessage());
            return null;
        }
    }

    private int freeNumber() {
        int number = 1;
        for (int i = 0; i < workers.size(); i++) {
            for (ParallelApplyWorker worker : workers) {
                if (worker.number() == number) {
                    number++;
                }
            }
        }
        return number;
    }

    @Override
    public boolean awaitCommitted(BooleanSupplier givenUp) {
        if (!leader.isIdle()) {
            leader.awaitIdle(givenUp);
        }
        leader.throwFailure();
        return !givenUp.getAsBoolean();
    }

    @Override
    public void throwFailure() {
        for (ParallelApplyWorker worker : workers) {
            ApplyException failure = worker.failure();
            if (failure != null) {
                remember(worker, failure);
                throw failure;
            }
        }
    }

    /**
     * What the target refuses in stream order it may take in commit order, and if not, the error will name the finish LSN. A deadlock
     * would come again with the same stream.
     */
    private void remember(ParallelApplyWorker worker, ApplyException failure) {
        Xid xid = worker.xid();
        if (xid != null && (failure.kind().remedy() == Remedy.RETRY_OR_DISABLE || isDeadlock(failure))) {
            spoolOnly.add(xid);
        }
    }

    private static boolean isDeadlock(ApplyException failure) {
        return DEADLOCK_DETECTED.equals(failure.sqlState());
    }

    /** Called by the watch: the transaction is rolled back, and spooled when it is sent again. */
    void breakCycle(ParallelApplyWorker worker, Xid xid, ApplyException reason) {
        spoolOnly.add(xid);
        stats.waitCycles.increment();
        worker.fail(reason);
    }

    private void freed(ParallelApplyWorker worker) {
        // pa_free_worker: half of them stay, so that the next transaction need not wait for a connection.
        if (workers.size() > Math.max(1, options.maxWorkers() / 2)) {
            workers.remove(worker);
            worker.close();
        }
        show();
    }

    private void show() {
        List<WorkerProgress> rows = new ArrayList<>();
        int leaderPid = leader.backendPid();
        rows.add(new WorkerProgress(options.subid(), "apply", leaderPid, null));
        int busy = 0;
        for (ParallelApplyWorker worker : workers) {
            rows.add(new WorkerProgress(options.subid(), "parallel apply", worker.backendPid(), leaderPid));
            busy += worker.xid() == null ? 0 : 1;
        }
        stats.setWorkers(rows);
        stats.setBusyWorkers(busy);
    }

    /** A worker with a transaction, as the leader sees it. */
    private final class Assigned implements Worker {
        private final ParallelApplyWorker worker;

        Assigned(ParallelApplyWorker worker) {
            this.worker = worker;
        }

        @Override
        public int number() {
            return worker.number();
        }

        @Override
        public boolean send(byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
            return guarded(() ->
                    worker.send(new ParallelApplyItem.Message(buffer, offset, length), options.sendTimeout(), givenUp));
        }

        @Override
        public boolean sendAbort(Xid subxid, BooleanSupplier givenUp) {
            return guarded(() ->
                    worker.send(new ParallelApplyItem.SubtransactionAbort(subxid), options.sendTimeout(), givenUp));
        }

        @Override
        public boolean commit(StreamCommit commit, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
            return guarded(() -> {
                LocalCommit local = worker.commit(commit, rest, givenUp);
                if (local == null) {
                    return false;
                }
                leader.noteCommit(new Progress(commit.endLsn(), commit.commitTime()), local);
                freed(worker);
                return true;
            });
        }

        @Override
        public boolean prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
            return guarded(() -> {
                boolean done = worker.prepare(prepare, rest, givenUp);
                if (done) {
                    freed(worker);
                }
                return done;
            });
        }

        @Override
        public void rollback(BooleanSupplier givenUp) {
            boolean unused = guarded(() -> {
                if (worker.rollback(givenUp)) {
                    freed(worker);
                }
                return true;
            });
        }

        private boolean guarded(BooleanSupplier call) {
            try {
                return call.getAsBoolean();
            } catch (ApplyException e) {
                remember(worker, e);
                throw e;
            }
        }

        @Override
        public int subxactCount() {
            return worker.subxactCount();
        }
    }

    /** Cuts what is in progress. Where the leader's session was the victim of a deadlock, the other side was one of the workers. */
    @Override
    public void close() {
        ApplyException ofLeader = leader.failure();
        if (ofLeader != null && isDeadlock(ofLeader)) {
            workers.forEach(worker -> remember(worker, ofLeader));
        }
        workers.forEach(ParallelApplyWorker::requestEnd);
        // Together: once one has not ended in time, none of the others is waited for so long.
        if (!workers.stream().allMatch(ParallelApplyWorker::awaitEnded)) {
            workers.forEach(ParallelApplyWorker::abort);
            workers.forEach(worker -> worker.awaitEnded());
        }
    }
}
