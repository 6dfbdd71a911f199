package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplyDispatcher;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.TableHolds;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Frame;
import dev.pgapply.worker.stream.Keepalive;
import dev.pgapply.worker.stream.ReceiveQueue;
import dev.pgapply.worker.stream.Ticker;
import dev.pgapply.worker.stream.XLogData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The leader apply worker (worker.c, LogicalRepApplyLoop): takes frames from the receiver's queue, decodes and dispatches them, and
 * decides when a batch is handed to the apply session. It runs on the thread that calls {@link #run}, named
 * {@code leader-apply/<subscription>}; only {@link #stop} and {@link #fail} are called from others.
 *
 * <p>When a batch is sealed:
 *
 * <ul>
 *   <li>the receiver's queue is empty and the session is free: an idle stream has no added latency;
 *   <li>the session is free and the oldest collected transaction has waited for a few milliseconds;
 *   <li>the batch is full, or a relation changes (the dispatcher sees to both).
 * </ul>
 *
 * While the session is busy the batch grows: the farther behind, the larger the batches.
 */
final class LeaderApplyWorker {

    /** How long the leader sleeps in the queue with nothing to do; it is also how soon it notices a stop. */
    private static final Duration IDLE_WAIT = Duration.ofMillis(100);

    /** How long it waits for more while the session is busy and a batch is open. */
    private static final Duration BUSY_WAIT = Duration.ofMillis(1);

    /** How long whole transactions may wait for company while the stream does not pause and the session is free. */
    private static final long MAX_BATCH_AGE_NANOS = Duration.ofMillis(3).toNanos();

    /** Behind by more than this, a streaming subscription is said to be catching up. */
    private static final Duration CATCHING_UP_LAG = Duration.ofSeconds(10);

    private final ReceiveQueue queue;
    private final ApplyDispatcher dispatcher;
    private final TableHolds holds;
    private final ApplySession session;
    private final AppliedPositions positions;
    private final IdleProgress idle;
    private final SubscriptionStats stats;
    private final Ticker ticker;
    private final Lsn caughtUpLsn;

    private final List<Frame> frames = new ArrayList<>();
    private long collectingSince;

    private volatile boolean stopping;
    private volatile @Nullable ApplyException externalFailure;

    /** @param caughtUpLsn the publisher's position when streaming began: from there on the subscription streams */
    LeaderApplyWorker(
            ReceiveQueue queue,
            ApplyDispatcher dispatcher,
            TableHolds holds,
            ApplySession session,
            AppliedPositions positions,
            IdleProgress idle,
            SubscriptionStats stats,
            Ticker ticker,
            Lsn caughtUpLsn) {
        this.queue = queue;
        this.dispatcher = dispatcher;
        this.holds = holds;
        this.session = session;
        this.positions = positions;
        this.idle = idle;
        this.stats = stats;
        this.ticker = ticker;
        this.caughtUpLsn = caughtUpLsn;
    }

    /** Asks for an orderly end: what is complete is committed, the rest is dropped. Any thread. */
    void stop() {
        stopping = true;
    }

    /** Ends the run with a failure that another thread found. Any thread. */
    void fail(ApplyException failure) {
        externalFailure = failure;
    }

    /**
     * Applies until {@link #stop}.
     *
     * @throws ApplyException whatever ended it; whole transactions that came before are committed if the target takes them
     */
    void run() {
        try {
            while (!stopping) {
                throwExternalFailure();
                session.throwFailure();
                dispatcher.throwWorkerFailure();
                step();
            }
            dispatcher.sealWhole();
            session.awaitFlushed(() -> false);
        } catch (ApplyException e) {
            applyWhatIsWhole(e);
            throw e;
        } finally {
            holds.end();
        }
    }

    private void step() {
        int received = receive();
        dispatcher.tick();
        for (Frame frame : frames) {
            if (isEnding()) {
                return;
            }
            handle(frame);
            attendTables();
        }
        frames.clear();
        attendTables();
        if (dispatcher.hasWholeTransactions()) {
            if (session.isIdle() && (received == 0 || isOld())) {
                dispatcher.sealWhole();
                collectingSince = 0;
            }
        } else if (!dispatcher.inTransaction() && session.isIdle()) {
            // Not only when the stream pauses: a publisher that is busy with other tables sends keepalives without a
            // pause.
            idle.recordIfDue();
        }
        showProgress();
    }

    private int receive() {
        try {
            return queue.drainTo(frames, waitTime());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.CONNECTION, "interrupted while waiting for the publisher", e);
        }
    }

    private Duration waitTime() {
        if (!dispatcher.hasWholeTransactions()) {
            return IDLE_WAIT;
        }
        return session.isIdle() ? Duration.ZERO : BUSY_WAIT;
    }

    /** Whether the collected transactions have waited long enough; the first call after a hand-over starts the wait. */
    private boolean isOld() {
        long now = ticker.nanos();
        if (collectingSince == 0) {
            collectingSince = now;
            return false;
        }
        return now - collectingSince >= MAX_BATCH_AGE_NANOS;
    }

    private void handle(Frame frame) {
        if (frame instanceof XLogData data) {
            dispatcher.dispatch(data.frame(), data.messageOffset(), data.messageLength(), this::isEnding);
        } else if (frame instanceof Keepalive keepalive) {
            positions.consumed(keepalive.endLsn());
            if (keepalive.replyRequested()) {
                idle.askedFor();
            }
        }
    }

    /** Table sync workers are answered between two transactions; what they wait for next may be a position. */
    private void attendTables() {
        if (holds.isAsked() && !dispatcher.inTransaction() && !dispatcher.isInWorker()) {
            holds.attend(this::commitAll, this::isEnding);
            idle.askedFor();
        }
    }

    private void commitAll(BooleanSupplier givenUp) {
        dispatcher.sealWhole();
        session.awaitIdle(givenUp);
    }

    private void showProgress() {
        SubscriptionStatus status = stats.status();
        if (status == SubscriptionStatus.CATCHING_UP) {
            if (!reachedLsn().isBefore(caughtUpLsn) && !isFarBehind()) {
                stats.transition(SubscriptionStatus.STREAMING, null);
            }
        } else if (status == SubscriptionStatus.STREAMING && isFarBehind()) {
            stats.transition(SubscriptionStatus.CATCHING_UP, "more than " + CATCHING_UP_LAG.toSeconds() + " s behind");
        }
    }

    /** What is only consumed counts while nothing is collected or handed over: it may yet fail, as it has in the life before. */
    private Lsn reachedLsn() {
        boolean nothingPending = session.isIdle() && !dispatcher.hasWholeTransactions() && !dispatcher.inTransaction();
        return nothingPending ? positions.appliedLsn().max(positions.consumedLsn()) : positions.appliedLsn();
    }

    private boolean isFarBehind() {
        Duration lag = stats.lag();
        return lag != null && lag.compareTo(CATCHING_UP_LAG) > 0;
    }

    private boolean isEnding() {
        return stopping || externalFailure != null;
    }

    private void throwExternalFailure() {
        ApplyException failure = externalFailure;
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Transactions that were complete before the failure are applied before it is reported: else one bad transaction would keep
     * good ones before it from ever being committed.
     */
    private void applyWhatIsWhole(ApplyException failure) {
        if (externalFailure != null) {
            return;
        }
        try {
            dispatcher.sealWhole();
            session.awaitIdle(() -> stopping || externalFailure != null);
        } catch (ApplyException second) {
            if (second != failure) {
                failure.addSuppressed(second);
            }
        }
    }
}
