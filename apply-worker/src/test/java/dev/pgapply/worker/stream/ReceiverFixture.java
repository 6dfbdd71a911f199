package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** A receiver with its own thread between a scripted walsender and a queue that the test takes from. */
final class ReceiverFixture implements AutoCloseable {

    static final Duration STATUS_INTERVAL = Duration.ofSeconds(10);
    static final Duration WAL_SENDER_TIMEOUT = Duration.ofSeconds(6);
    static final Duration RECEIVE_TIMEOUT = Duration.ofSeconds(60);

    final FakeTicker ticker = new FakeTicker();
    final ScriptedStream stream = new ScriptedStream();
    final ReceiveQueue queue;
    final Receiver receiver;
    final SubscriptionStats stats;
    private volatile FeedbackPositions positions = FeedbackPositions.NONE;

    ReceiverFixture(long queueBytes) {
        Clock clock = Clock.fixed(Instant.parse("2026-08-01T12:00:00Z"), ZoneOffset.UTC);
        queue = new ReceiveQueue(queueBytes);
        stats = new SubscriptionStats("sub", clock);
        ReceiverOptions options = new ReceiverOptions(
                "sub",
                "slot",
                Lsn.ZERO,
                PgOutputOptions.forPublisher(
                        180000, List.of("pub"), false, StreamingMode.OFF, SubscriptionOptions.Origin.ANY),
                STATUS_INTERVAL,
                RECEIVE_TIMEOUT);
        receiver = new Receiver(options, stream, WAL_SENDER_TIMEOUT, () -> positions, queue, stats, ticker, clock);
        receiver.startThread();
    }

    void reports(long write, long flush, long apply) {
        positions = Frames.positions(write, flush, apply);
        receiver.nudge();
    }

    /** Takes that many frames. */
    List<Frame> takes(int count) throws InterruptedException {
        List<Frame> frames = new ArrayList<>();
        while (frames.size() < count) {
            if (queue.drainTo(frames, Duration.ofSeconds(30)) == 0) {
                throw new AssertionError("only " + frames.size() + " frames came");
            }
        }
        return frames;
    }

    @Override
    public void close() {
        receiver.close();
    }
}
