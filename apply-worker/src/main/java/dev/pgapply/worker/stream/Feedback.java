package dev.pgapply.worker.stream;

import dev.pgapply.worker.stats.SubscriptionStats;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Sends the status to the publisher (worker.c, send_feedback). It knows nothing of what is applied: the positions come from a supplier
 * and never go back. Owned by the receiver's thread.
 */
final class Feedback {

    private final WalSenderStream stream;
    private final Supplier<FeedbackPositions> positions;
    private final StatusSchedule schedule;
    private final SubscriptionStats stats;
    private final Ticker ticker;
    private final Clock clock;

    Feedback(
            WalSenderStream stream,
            Supplier<FeedbackPositions> positions,
            StatusSchedule schedule,
            SubscriptionStats stats,
            Ticker ticker,
            Clock clock) {
        this.stream = stream;
        this.positions = positions;
        this.schedule = schedule;
        this.stats = stats;
        this.ticker = ticker;
        this.clock = clock;
    }

    void sendIfDue() throws SQLException {
        if (schedule.isDue(positions.get(), ticker.nanos())) {
            send(false);
        }
    }

    /** @param replyRequested whether the publisher shall answer at once */
    void send(boolean replyRequested) throws SQLException {
        FeedbackPositions next = schedule.next(positions.get());
        stream.send(StatusUpdate.encode(next, FrameDecoder.toMicros(clock.instant()), replyRequested));
        schedule.sent(next, ticker.nanos());
        stats.setFeedback(next.write(), next.flush(), next.apply());
    }

    /** No sleep may be longer, lest a status comes late. */
    Duration longestSleep(Duration wished) {
        return schedule.longestSleep(wished);
    }
}
