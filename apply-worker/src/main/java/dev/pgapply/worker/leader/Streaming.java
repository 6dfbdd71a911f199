package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplyDispatcher;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.OpenRelations;
import dev.pgapply.worker.apply.PreparedTransactions;
import dev.pgapply.worker.apply.StreamedChanges;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.origin.NativeOrigin;
import dev.pgapply.worker.preflight.StreamStart;
import dev.pgapply.worker.preflight.TextFallback;
import dev.pgapply.worker.publisher.PublisherPosition;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.PgOutputOptions;
import dev.pgapply.worker.stream.ReceiveQueue;
import dev.pgapply.worker.stream.Receiver;
import dev.pgapply.worker.stream.ReceiverOptions;
import dev.pgapply.worker.stream.Ticker;
import java.time.Clock;
import java.time.Duration;

/**
 * Everything that runs while a subscription streams: the receiver, the leader apply worker, the apply session, and two watches.
 * Opened, run and closed on the leader's thread; {@link #stop} and {@link #cut} come from others.
 */
final class Streaming implements AutoCloseable {

    /** So long the target may take after a stop to finish what is complete; the whole process has 8 s. */
    private static final long STOP_PATIENCE_NANOS = Duration.ofSeconds(4).toNanos();

    private final Receiver receiver;
    private final ApplySession session;
    private final LeaderApplyWorker leader;
    private final SubscriptionWatch ownershipWatch;
    private final SubscriptionWatch publisherWatch;
    private final PublisherPosition publisherPosition;
    private final Ticker ticker;

    private volatile boolean stopping;
    private volatile long stopAskedAt;

    /**
     * Starts the receiver and the apply session. When this returns the publisher streams and nothing is taken from it yet.
     *
     * @param start where the target stands and what the publisher is like
     * @param spool this life's own, for streamed transactions; the caller closes it
     */
    static Streaming open(
            SubscriptionOptions options,
            StreamStart start,
            TextFallback fallback,
            PostgresConnections publisher,
            Target target,
            Ownership ownership,
            SpoolDirectory spool,
            SubscriptionStats stats,
            Ticker ticker,
            Clock clock) {
        AppliedPositions positions = new AppliedPositions(start.startLsn(), stats);
        ReceiveQueue queue = new ReceiveQueue(options.receiveQueueBytes());
        ReceiverOptions receiverOptions = new ReceiverOptions(
                options.name(),
                options.slotName(),
                start.startLsn(),
                pgOutputOptions(options, start),
                options.walReceiverStatusInterval(),
                options.walReceiverTimeout());
        Receiver receiver =
                Receiver.start(publisher, receiverOptions, positions::feedback, queue, stats, ticker, clock);
        try {
            String originName = NativeOrigin.name(start.subid());
            ApplySession session = ApplySession.start(
                    options.name(), originName, target.openSession("apply"), positions, stats, receiver::nudge);
            OpenRelations relations =
                    new OpenRelations(target, ticker, new BinaryGuard(options.binary(), start, fallback));
            BatchBuilder batch = new BatchBuilder(options.batch());
            ApplyDispatcher dispatcher = new ApplyDispatcher(
                    originName,
                    batch,
                    relations,
                    start.tables(),
                    new StreamedChanges(options.streaming(), spool, relations, stats),
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
                    queue, dispatcher, session, positions, idle, stats, ticker, start.publisherLsn());
            stats.transition(SubscriptionStatus.CATCHING_UP, null);
            return new Streaming(options, receiver, session, leader, publisher, ownership, stats, ticker);
        } catch (ApplyException e) {
            receiver.close();
            throw e;
        }
    }

    private static PgOutputOptions pgOutputOptions(SubscriptionOptions options, StreamStart start) {
        PgOutputOptions asked = PgOutputOptions.forPublisher(
                start.publisher().serverVersionNum(),
                options.publications(),
                start.binary(),
                options.streaming(),
                options.origin());
        return start.twoPhase() ? asked.withTwoPhase() : asked;
    }

    private Streaming(
            SubscriptionOptions options,
            Receiver receiver,
            ApplySession session,
            LeaderApplyWorker leader,
            PostgresConnections publisher,
            Ownership ownership,
            SubscriptionStats stats,
            Ticker ticker) {
        this.receiver = receiver;
        this.session = session;
        this.leader = leader;
        this.ticker = ticker;
        this.publisherPosition = new PublisherPosition(options, publisher, stats, ticker);
        this.ownershipWatch = SubscriptionWatch.start(options.name(), () -> watch(ownership), leader::fail);
        this.publisherWatch =
                SubscriptionWatch.start(options.name() + "/publisher", publisherPosition::refresh, leader::fail);
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

    /** Asks for an orderly end; returns at once. Any thread. */
    void stop() {
        stopAskedAt = ticker.nanos();
        stopping = true;
        leader.stop();
    }

    /** Closes the target session at once: another engine owns the subscription, or the patience is over. Any thread. */
    void cut() {
        session.close();
    }

    /** The last positions go to the publisher, then everything is closed. */
    @Override
    public void close() {
        ownershipWatch.close();
        publisherWatch.close();
        session.close();
        receiver.close();
        publisherPosition.close();
    }
}
