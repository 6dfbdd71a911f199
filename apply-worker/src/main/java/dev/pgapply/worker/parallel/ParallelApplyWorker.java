package dev.pgapply.worker.parallel;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.worker.apply.StreamedTransactionApplier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread, {@code parallel-apply/<subscription>/<n>}, with one target session that nobody else touches: applies a streamed transaction
 * while it is in progress, and ends it when the leader says so (applyparallelworker.c, ParallelApplyWorkerMain).
 *
 * <p>The leader calls {@link #begin}, {@link #send}, {@link #commit}, {@link #prepare} and {@link #rollback}; {@link #fail} and the questions may come from
 * any thread. After a failure the worker does nothing more: its session is closed, which rolls its transaction back, and every call of
 * the leader throws the failure.
 */
final class ParallelApplyWorker implements AutoCloseable {

    /** How long collected changes wait for more: each batch costs a savepoint, and nobody sees them before the commit. */
    private static final Duration LINGER = Duration.ofMillis(20);

    /** How often an idle thread looks whether it should end. */
    private static final Duration IDLE_POLL = Duration.ofMillis(500);

    /** How often a waiting leader looks whether the worker has failed. */
    private static final Duration LEADER_POLL = Duration.ofMillis(50);

    /** How long an orderly end may take before the connection is cut. */
    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(500);

    private final int number;
    private final TargetSession session;
    private final StreamedTransactionApplier applier;
    private final ParallelApplyQueue queue;
    private final Thread thread;

    private final AtomicReference<@Nullable ApplyException> failure = new AtomicReference<>();
    private volatile boolean closing;

    /** The transaction that the worker has, and whether the leader waits for its end. Written by the leader. */
    private volatile @Nullable Xid xid;

    private volatile boolean finishing;
    private volatile @Nullable LocalCommit committed;

    private ParallelApplyWorker(
            String subscription,
            int number,
            TargetSession session,
            StreamedTransactionApplier applier,
            long maxQueueBytes) {
        this.number = number;
        this.session = session;
        this.applier = applier;
        this.queue = new ParallelApplyQueue(maxQueueBytes);
        this.thread = new Thread(this::run, "parallel-apply/" + subscription + "/" + number);
    }

    /** Starts the thread on a session, which it owns from then on, as it does the applier. */
    static ParallelApplyWorker start(
            String subscription,
            int number,
            TargetSession session,
            StreamedTransactionApplier applier,
            long maxQueueBytes) {
        ParallelApplyWorker started = new ParallelApplyWorker(subscription, number, session, applier, maxQueueBytes);
        started.thread.setDaemon(true);
        started.thread.start();
        return started;
    }

    int number() {
        return number;
    }

    int backendPid() {
        return session.backendPid();
    }

    int subxactCount() {
        return applier.subxactCount();
    }

    /** The transaction that it has, null while it is free. */
    @Nullable
    Xid xid() {
        return xid;
    }

    /** Whether the leader waits for the end of the transaction: until then it is in progress. */
    boolean isFinishing() {
        return finishing;
    }

    void begin(Xid transaction) {
        xid = transaction;
        queue.putAtOnce(new ParallelApplyItem.Begin(transaction));
    }

    /** False if the queue stayed full; nothing was sent then. */
    boolean send(ParallelApplyItem item, Duration sendTimeout, BooleanSupplier givenUp) {
        try {
            throwFailure();
            if (queue.put(item, Duration.ZERO)) {
                return true;
            }
            for (Duration left = sendTimeout; left.compareTo(Duration.ZERO) > 0; left = left.minus(LEADER_POLL)) {
                if (queue.put(item, left.compareTo(LEADER_POLL) < 0 ? left : LEADER_POLL)) {
                    return true;
                }
                throwFailure();
                if (givenUp.getAsBoolean()) {
                    return true;
                }
            }
            return false;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Null if it was given up. */
    @Nullable
    LocalCommit commit(StreamCommit commit, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
        CountDownLatch done = new CountDownLatch(1);
        committed = null;
        finishing = true;
        queue.putAtOnce(new ParallelApplyItem.Commit(commit, rest, done));
        return awaitEnd(done, givenUp) ? committed : null;
    }

    /** False if it was given up. */
    boolean prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
        CountDownLatch done = new CountDownLatch(1);
        finishing = true;
        queue.putAtOnce(new ParallelApplyItem.Prepare(prepare, rest, done));
        return awaitEnd(done, givenUp);
    }

    /** False if it was given up. */
    boolean rollback(BooleanSupplier givenUp) {
        CountDownLatch done = new CountDownLatch(1);
        finishing = true;
        queue.putInstead(new ParallelApplyItem.Rollback(done));
        return awaitEnd(done, givenUp);
    }

    private boolean awaitEnd(CountDownLatch done, BooleanSupplier givenUp) {
        try {
            while (!done.await(LEADER_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                throwFailure();
                if (givenUp.getAsBoolean()) {
                    return false;
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        xid = null;
        finishing = false;
        return true;
    }

    private static ApplyException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new ApplyException(Kind.CONNECTION, "interrupted while waiting for a parallel apply worker", e);
    }

    @Nullable
    ApplyException failure() {
        return failure.get();
    }

    void throwFailure() {
        ApplyException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }

    /** Ends the worker's work at once, and with it its transaction; the first reason stays. */
    void fail(ApplyException reason) {
        failure.compareAndSet(null, reason);
        closing = true;
        session.abort();
    }

    private void run() {
        List<ParallelApplyItem> items = new ArrayList<>();
        try {
            while (!closing) {
                Duration wait = applier.hasPending() ? LINGER : IDLE_POLL;
                if (queue.drainTo(items, wait) == 0) {
                    applier.applyPending();
                    continue;
                }
                applier.tick();
                for (ParallelApplyItem item : items) {
                    if (closing) {
                        return;
                    }
                    handle(item);
                }
                items.clear();
            }
        } catch (ApplyException e) {
            failure.compareAndSet(null, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, new ApplyException(Kind.INTERNAL, "parallel apply worker failed: " + e, e));
        } finally {
            failure.compareAndSet(null, new ApplyException(Kind.CONNECTION, "the parallel apply worker has ended"));
            session.close();
        }
    }

    private void handle(ParallelApplyItem item) {
        if (item instanceof ParallelApplyItem.Message message) {
            applier.apply(message.buffer(), message.offset(), message.length());
        } else if (item instanceof ParallelApplyItem.SubtransactionAbort abort) {
            applier.abortSubtransaction(abort.subxid());
        } else if (item instanceof ParallelApplyItem.Begin begin) {
            applier.begin(begin.xid());
        } else if (item instanceof ParallelApplyItem.Commit end) {
            committed = applier.commit(end.commit(), end.rest(), () -> closing);
            end.done().countDown();
        } else if (item instanceof ParallelApplyItem.Prepare end) {
            if (applier.prepare(end.prepare(), end.rest(), () -> closing)) {
                end.done().countDown();
            }
        } else if (item instanceof ParallelApplyItem.Rollback end) {
            applier.rollback();
            end.done().countDown();
        }
    }

    /** Ends the thread; a target transaction that is open is rolled back with its connection. Any thread but the worker's own. */
    @Override
    public void close() {
        requestEnd();
        if (!awaitEnded()) {
            abort();
            boolean unused = awaitEnded();
        }
    }

    /** Asks the thread to end, and does not wait. */
    void requestEnd() {
        closing = true;
        thread.interrupt();
    }

    /** Whether the thread has ended, after a short wait for it. */
    boolean awaitEnded() {
        try {
            thread.join(CLOSE_PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    /** Cuts the session. */
    void abort() {
        session.abort();
    }
}
