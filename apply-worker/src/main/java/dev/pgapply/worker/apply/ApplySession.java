package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.transaction.FlushPositions;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread with one target connection that nobody else touches. It executes what the leader apply worker hands over, in order: a
 * sealed batch or an idle position. Its queue holds one, so that the leader decodes the next batch while this one executes.
 *
 * <p>The leader calls {@link #submit}, {@link #recordIdle}, {@link #isIdle} and {@link #awaitIdle}; everything else runs on the
 * thread {@code apply-session/<subscription>}. After a failure the session executes nothing more, and every call of the leader
 * throws it.
 */
public final class ApplySession implements PreparedTransactions.Sink, AutoCloseable {

    /** How often the flushed position is asked for while commits wait for it (the WAL writer's delay, walwriter.c). */
    private static final Duration FLUSH_POLL = Duration.ofMillis(200);

    /** How often a barrier that waits for durability asks again. */
    private static final Duration BARRIER_POLL = Duration.ofMillis(20);

    /** How often an idle thread looks whether it should end. */
    private static final Duration IDLE_POLL = Duration.ofMillis(500);

    /** How often a waiting leader looks whether the session has failed. */
    private static final Duration LEADER_POLL = Duration.ofMillis(50);

    /** How long an orderly end may take before the connection is cut. */
    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(500);

    /** The most changes of a transaction whose delay says how busy the way to its commit is. */
    private static final int SMALL_STEPS = 16;

    private sealed interface Command permits Apply, Prepared, Idle, Elsewhere, Barrier {}

    /** @param at when it was handed over, by the pace's clock */
    private record Apply(ChangeBatch batch, long at) implements Command {}

    /** A step of a prepared transaction that is not a batch. */
    private record Prepared(Consumer<PreparedApplier> step) implements Command {}

    private record Idle(Lsn lsn) implements Command {}

    private record Elsewhere(Progress progress, LocalCommit local) implements Command {}

    /** @param durable whether it is reached only when every commit before it is durable */
    private record Barrier(CountDownLatch reached, boolean durable) implements Command {}

    private final TargetSession session;
    private final AppliedPositions positions;
    private final Runnable feedbackDue;
    private final CopyPace pace;
    private final TransactionApplier applier;
    private final PreparedApplier prepared;
    private final FlushPositions unflushed;
    private final BlockingQueue<Command> commands = new ArrayBlockingQueue<>(1);
    private final AtomicInteger pending = new AtomicInteger();
    private final Thread thread;

    private volatile @Nullable ApplyException failure;
    private volatile boolean closing;

    private ApplySession(
            String subscription,
            String originName,
            TargetSession session,
            AppliedPositions positions,
            SubscriptionStats stats,
            Runnable feedbackDue,
            CopyPace pace) {
        this.session = session;
        this.positions = positions;
        this.unflushed = new FlushPositions(positions.flushedLsn());
        this.feedbackDue = feedbackDue;
        this.pace = pace;
        ApplyErrorContext context = new ApplyErrorContext(originName);
        this.applier = new TransactionApplier(session, stats, context, this::committed);
        this.prepared = new PreparedApplier(session, applier, positions::appliedLsn, stats, context, this::committed);
        this.thread = new Thread(this::run, "apply-session/" + subscription);
    }

    /**
     * Starts the thread on a session, which it owns from then on.
     *
     * @param originName how errors name where the changes come from
     * @param feedbackDue called when the flush position has moved
     * @param pace told how long small transactions take
     */
    public static ApplySession start(
            String subscription,
            String originName,
            TargetSession session,
            AppliedPositions positions,
            SubscriptionStats stats,
            Runnable feedbackDue,
            CopyPace pace) {
        ApplySession started = new ApplySession(subscription, originName, session, positions, stats, feedbackDue, pace);
        started.thread.setDaemon(true);
        started.thread.start();
        return started;
    }

    /** Hands a batch over; waits while one is waiting already. Called by the leader. */
    public void submit(ChangeBatch batch) {
        put(new Apply(batch, pace.now()), () -> false);
    }

    @Override
    public void beginPrepare(PreparedTransaction transaction) {
        put(new Prepared(applier -> applier.begin(transaction)), () -> false);
    }

    @Override
    public @Nullable Boolean beginPrepareInWorker(PreparedTransaction transaction, BooleanSupplier givenUp) {
        AtomicReference<@Nullable Boolean> execute = new AtomicReference<>();
        if (put(new Prepared(applier -> execute.set(applier.beginInWorker(transaction))), givenUp)) {
            awaitIdle(givenUp);
        }
        throwFailure();
        return execute.get();
    }

    @Override
    public void preparedInWorker(PreparedTransaction transaction) {
        put(new Prepared(applier -> applier.endInWorker(transaction)), () -> false);
    }

    @Override
    public void commitPrepared(CommitPrepared message) {
        put(new Prepared(applier -> applier.commitPrepared(message)), () -> false);
    }

    @Override
    public void rollbackPrepared(RollbackPrepared message) {
        put(new Prepared(applier -> applier.rollbackPrepared(message)), () -> false);
    }

    /** Has an idle position recorded durably, after everything handed over before. Called by the leader. */
    public void recordIdle(Lsn lsn) {
        put(new Idle(lsn), () -> false);
    }

    /**
     * Notes what a parallel apply worker has committed: it becomes durable in its turn. Called by the leader, behind everything that
     * was committed before it.
     */
    public void noteCommit(Progress progress, LocalCommit local) {
        put(new Elsewhere(progress, local), () -> false);
    }

    /** The server process of the session. Any thread. */
    public int backendPid() {
        return session.backendPid();
    }

    /** False if it was given up before there was room. */
    private boolean put(Command command, BooleanSupplier givenUp) {
        throwFailure();
        pending.incrementAndGet();
        try {
            while (!commands.offer(command, LEADER_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                throwFailure();
                if (givenUp.getAsBoolean()) {
                    pending.decrementAndGet();
                    return false;
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        return true;
    }

    private static ApplyException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new ApplyException(Kind.CONNECTION, "interrupted while waiting for the apply session", e);
    }

    /** Whether everything handed over is done. Any thread. */
    public boolean isIdle() {
        return pending.get() == 0;
    }

    /**
     * Waits until everything handed over is done. Called by the leader.
     *
     * @param givenUp asked again and again; true ends the wait
     */
    public void awaitIdle(BooleanSupplier givenUp) {
        awaitBarrier(false, givenUp);
    }

    /**
     * Waits until everything handed over is done and durable. Called by the leader.
     *
     * @param givenUp asked again and again; true ends the wait
     */
    public void awaitFlushed(BooleanSupplier givenUp) {
        awaitBarrier(true, givenUp);
    }

    private void awaitBarrier(boolean durable, BooleanSupplier givenUp) {
        Barrier barrier = new Barrier(new CountDownLatch(1), durable);
        if (!put(barrier, givenUp)) {
            return;
        }
        try {
            while (!barrier.reached().await(LEADER_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                throwFailure();
                if (givenUp.getAsBoolean()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** What ended the session, null if nothing has. Any thread. */
    public @Nullable ApplyException failure() {
        return failure;
    }

    /** Throws what ended the session, if something has. Called by the leader. */
    public void throwFailure() {
        ApplyException failed = failure;
        if (failed != null) {
            throw failed;
        }
        if (closing) {
            throw new ApplyException(Kind.CONNECTION, "the apply session is closed");
        }
    }

    private void run() {
        try {
            while (!closing) {
                Duration wait = unflushed.isEmpty() ? IDLE_POLL : FLUSH_POLL;
                Command command = commands.poll(wait.toMillis(), TimeUnit.MILLISECONDS);
                if (command != null) {
                    execute(command);
                    pending.decrementAndGet();
                } else if (!unflushed.isEmpty()) {
                    askFlushed();
                }
            }
        } catch (ApplyException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            failure = new ApplyException(Kind.INTERNAL, "apply session failed: " + e, e);
        } finally {
            session.close();
        }
    }

    private void execute(Command command) throws InterruptedException {
        if (command instanceof Apply apply) {
            TransactionSlice.End end = apply.batch().firstSlice().end();
            if (end != null && unflushed.isEmpty()) {
                positions.oldestUnflushed(end.commitTime());
            }
            if (prepared.isOpen()) {
                prepared.apply(apply.batch());
                return;
            }
            applier.apply(apply.batch());
            if (isSmall(apply.batch())) {
                pace.applied(apply.at());
            }
        } else if (command instanceof Prepared step) {
            step.step().accept(prepared);
        } else if (command instanceof Idle idle) {
            session.recordIdle(idle.lsn());
            unflushed.recordIdle(idle.lsn());
            publish();
            feedbackDue.run();
        } else if (command instanceof Elsewhere elsewhere) {
            Progress progress = elsewhere.progress();
            session.noteCommit(elsewhere.local());
            committed(progress.remoteLsn(), progress.remoteCommitTime(), elsewhere.local());
        } else if (command instanceof Barrier barrier) {
            while (barrier.durable() && !unflushed.isEmpty() && !closing) {
                askFlushed();
                if (!unflushed.isEmpty() && barrier.reached().await(BARRIER_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
            barrier.reached().countDown();
        }
    }

    /** What a stream brings that is up to date: its transactions come alone, and most of their time is not their rows'. */
    private static boolean isSmall(ChangeBatch batch) {
        TransactionSlice only = batch.firstSlice();
        return batch.transactions().size() == 1
                && only.isWhole()
                && only.steps().size() <= SMALL_STEPS;
    }

    private void askFlushed() {
        unflushed.advance(session.flushedLsn());
        publish();
    }

    private void committed(Lsn remoteEndLsn, Instant commitTime, LocalCommit local) {
        unflushed.store(remoteEndLsn, local.localLsn(), commitTime);
        unflushed.advance(local.flushedLsn());
        publish();
    }

    private void publish() {
        Lsn before = positions.flushedLsn();
        positions.applied(unflushed.applied(), unflushed.flushed());
        positions.oldestUnflushed(unflushed.oldestCommitTime());
        if (positions.flushedLsn().isAfter(before)) {
            feedbackDue.run();
        }
    }

    /** Ends the thread; a target transaction that is open is rolled back with its connection. Any thread but the session's own. */
    @Override
    public void close() {
        closing = true;
        thread.interrupt();
        try {
            thread.join(CLOSE_PATIENCE.toMillis());
            if (thread.isAlive()) {
                session.abort();
                thread.join(CLOSE_PATIENCE.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            session.abort();
        }
    }
}
