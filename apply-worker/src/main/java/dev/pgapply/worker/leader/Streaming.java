package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplyDispatcher;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.OpenRelations;
import dev.pgapply.worker.apply.PreparedTransactions;
import dev.pgapply.worker.apply.StreamedChanges;
import dev.pgapply.worker.apply.StreamedTransactionApplier;
import dev.pgapply.worker.apply.TableHolds;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.jdbc.LockWaits;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresTarget;
import dev.pgapply.worker.jdbc.SessionFence;
import dev.pgapply.worker.origin.NativeOrigin;
import dev.pgapply.worker.parallel.ParallelApplyWorkerPool;
import dev.pgapply.worker.parallel.SpoolOnlyTransactions;
import dev.pgapply.worker.parallel.WaitCycleWatch;
import dev.pgapply.worker.preflight.StreamFallback;
import dev.pgapply.worker.preflight.StreamStart;
import dev.pgapply.worker.publisher.PublisherPosition;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.PgOutputOptions;
import dev.pgapply.worker.stream.ReceiveQueue;
import dev.pgapply.worker.stream.Receiver;
import dev.pgapply.worker.stream.ReceiverOptions;
import dev.pgapply.worker.stream.Ticker;
import dev.pgapply.worker.tablesync.TableSync;
import dev.pgapply.worker.tablesync.TableSyncContext;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that runs while a subscription streams: the receiver, the leader apply worker, the apply session, and two watches.
 * Opened, run and closed on the leader's thread; {@link #stop} and {@link #cut} come from others.
 */
final class Streaming implements AutoCloseable {

    /** So long the target may take after a stop to finish what is complete; the whole process has 8 s. */
    private static final long STOP_PATIENCE_NANOS = Duration.ofSeconds(4).toNanos();

    /** As PostgreSQL's (applyparallelworker.c, DSM_QUEUE_SIZE). */
    private static final long PARALLEL_QUEUE_BYTES = 16L << 20;

    private static final Logger log = LoggerFactory.getLogger(Streaming.class);

    private final Receiver receiver;
    private final ApplySession session;
    private final ParallelApplyWorkerPool workers;
    private final LeaderApplyWorker leader;
    private final SubscriptionWatch ownershipWatch;
    private final SubscriptionWatch publisherWatch;
    private final SubscriptionWatch waitCycleWatch;
    private final PublisherPosition publisherPosition;
    private final TableSync tableSync;
    private final Ticker ticker;

    private volatile boolean stopping;
    private volatile long stopAskedAt;

    /**
     * Starts the receiver and the apply session. When this returns the publisher streams and nothing is taken from it yet.
     *
     * @param start where the target stands and what the publisher is like
     * @param lockWaits asks the target who waits for whom; the caller closes it
     * @param spool this life's own, for streamed transactions; the caller closes it
     * @param spoolOnly the streamed transactions that get no parallel apply worker
     */
    static Streaming open(
            SubscriptionOptions options,
            StreamStart start,
            StreamFallback fallback,
            PostgresConnections publisher,
            PostgresConnections targetConnections,
            PostgresTarget target,
            SessionFence fence,
            LockWaits lockWaits,
            Ownership ownership,
            SpoolDirectory spool,
            SpoolOnlyTransactions spoolOnly,
            SubscriptionStats stats,
            Ticker ticker,
            Clock clock) {
        StreamingMode streaming = streamingMode(options, start, fallback);
        AppliedPositions positions = new AppliedPositions(start.startLsn(), stats);
        ReceiveQueue queue = new ReceiveQueue(options.receiveQueueBytes());
        ReceiverOptions receiverOptions = new ReceiverOptions(
                options.name(),
                options.slotName(),
                start.startLsn(),
                pgOutputOptions(options, start, streaming),
                options.walReceiverStatusInterval(),
                options.walReceiverTimeout());
        Receiver receiver =
                Receiver.start(publisher, receiverOptions, positions::feedback, queue, stats, ticker, clock);
        Deque<Runnable> opened = new ArrayDeque<>(List.of(receiver::close));
        try {
            String originName = NativeOrigin.name(start.subid());
            CopyPace pace = new CopyPace(ticker::nanos);
            ApplySession session = ApplySession.start(
                    options.name(), originName, target.openSession("apply"), positions, stats, receiver::nudge, pace);
            opened.push(session::close);
            BinaryGuard guard = new BinaryGuard(options.binary(), start, fallback);
            TableHolds holds = new TableHolds(start.tables(), spool);
            ParallelApplyWorkerPool workers = ParallelApplyWorkerPool.open(
                    new ParallelApplyWorkerPool.Options(
                            options.name(),
                            start.subid(),
                            options.maxParallelApplyWorkers(),
                            PARALLEL_QUEUE_BYTES,
                            options.streamSendTimeout()),
                    workerSession -> new StreamedTransactionApplier(
                            start.subid(),
                            start.twoPhase(),
                            originName,
                            workerSession,
                            options.batch(),
                            new OpenRelations(target, options.createTables(), ticker, guard),
                            holds::subscribed,
                            stats),
                    target::openParallelSession,
                    session,
                    spoolOnly,
                    stats);
            opened.push(workers::close);
            OpenRelations relations = new OpenRelations(target, options.createTables(), ticker, guard);
            BatchBuilder batch = new BatchBuilder(options.batch());
            ApplyDispatcher dispatcher = new ApplyDispatcher(
                    originName,
                    batch,
                    relations,
                    holds,
                    new StreamedChanges(streaming, spool, workers, holds, relations, positions, stats),
                    new PreparedTransactions(start.twoPhase(), batch, session, start.startLsn(), stats),
                    positions,
                    stats,
                    session::submit);
            IdleProgress idle = new IdleProgress(
                    positions,
                    session,
                    ticker,
                    options.walReceiverStatusInterval(),
                    !start.publisher().synchronousStandbyNames().isEmpty());
            LeaderApplyWorker leader = new LeaderApplyWorker(
                    queue, dispatcher, holds, session, positions, idle, stats, ticker, start.publisherLsn());
            TableSync tableSync = TableSync.start(new TableSyncContext(
                    options,
                    start.subid(),
                    originName,
                    start.twoPhase(),
                    publisher,
                    targetConnections,
                    fence,
                    holds,
                    positions,
                    pace,
                    guard.failing(leader::fail),
                    leader::fail,
                    stats,
                    ticker,
                    clock));
            opened.push(tableSync::close);
            stats.transition(SubscriptionStatus.CATCHING_UP, null);
            WaitCycleWatch waitCycles =
                    new WaitCycleWatch(workers, session::backendPid, target::catalogPid, lockWaits::read, leader::fail);
            return new Streaming(
                    options,
                    receiver,
                    session,
                    workers,
                    waitCycles,
                    leader,
                    tableSync,
                    publisher,
                    ownership,
                    stats,
                    ticker);
        } catch (RuntimeException e) {
            // The newest first; else a session would stay on the target, and its thread here, for each start that
            // fails.
            opened.forEach(Runnable::run);
            throw e;
        }
    }

    /** As native asks an older publisher for less, too (worker.c, set_stream_options). */
    private static StreamingMode streamingMode(
            SubscriptionOptions options, StreamStart start, StreamFallback fallback) {
        if (options.streaming() != StreamingMode.OFF && fallback.isWholeNeeded(start.startLsn())) {
            log.warn(
                    "subscription \"{}\": transactions are asked for whole, as with streaming: off, since the publisher could not decode"
                            + " one in progress",
                    options.name());
            return StreamingMode.OFF;
        }
        String less = options.streaming().lessOffered(start.publisher().serverVersionNum());
        if (less != null) {
            log.info("subscription \"{}\": {}", options.name(), less);
        }
        return options.streaming().offeredBy(start.publisher().serverVersionNum());
    }

    private static PgOutputOptions pgOutputOptions(
            SubscriptionOptions options, StreamStart start, StreamingMode streaming) {
        PgOutputOptions asked = PgOutputOptions.forPublisher(
                start.publisher().serverVersionNum(),
                options.publications(),
                start.binary(),
                streaming,
                options.origin());
        return start.twoPhase() ? asked.withTwoPhase() : asked;
    }

    private Streaming(
            SubscriptionOptions options,
            Receiver receiver,
            ApplySession session,
            ParallelApplyWorkerPool workers,
            WaitCycleWatch waitCycles,
            LeaderApplyWorker leader,
            TableSync tableSync,
            PostgresConnections publisher,
            Ownership ownership,
            SubscriptionStats stats,
            Ticker ticker) {
        this.receiver = receiver;
        this.session = session;
        this.workers = workers;
        this.leader = leader;
        this.tableSync = tableSync;
        this.ticker = ticker;
        this.publisherPosition = new PublisherPosition(options, publisher, stats, ticker);
        this.ownershipWatch = SubscriptionWatch.start(options.name(), () -> watch(ownership), leader::fail);
        this.publisherWatch =
                SubscriptionWatch.start(options.name() + "/publisher", publisherPosition::refresh, leader::fail);
        this.waitCycleWatch =
                SubscriptionWatch.start(options.name() + "/wait cycles", waitCycles::attend, leader::fail);
    }

    private void watch(Ownership ownership) {
        if (stopping && ticker.nanos() - stopAskedAt > STOP_PATIENCE_NANOS) {
            cut();
            throw new ApplyException(
                    Kind.CONNECTION, "the target did not finish in time; what was open is rolled back");
        }
        ownership.check();
    }

    /** Applies until {@link #stop}; throws what else ended it. */
    void run() {
        leader.run();
    }

    /** Whether it has ended because the publisher could not decode something. */
    boolean isDecodingFailed() {
        return receiver.isDecodingFailed();
    }

    /** Asks for an orderly end; returns at once. Any thread. */
    void stop() {
        stopAskedAt = ticker.nanos();
        stopping = true;
        leader.stop();
    }

    /** The tables' synchronisation, which takes operators' requests. Any thread. */
    TableSync tableSync() {
        return tableSync;
    }

    /** Closes the target session at once: another engine owns the subscription, or the patience is over. Any thread. */
    void cut() {
        workers.close();
        session.close();
    }

    /** The last positions go to the publisher, then everything is closed. */
    @Override
    public void close() {
        ownershipWatch.close();
        publisherWatch.close();
        waitCycleWatch.close();
        tableSync.close();
        workers.close();
        session.close();
        receiver.close();
        publisherPosition.close();
    }
}
