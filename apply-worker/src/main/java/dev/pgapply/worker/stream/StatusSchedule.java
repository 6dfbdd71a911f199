package dev.pgapply.worker.stream;

import java.time.Duration;

/**
 * When the next status is due, and which positions it may name. Owned by the receiver's thread; times are a {@link Ticker}'s.
 *
 * <ul>
 *   <li>At least once in the interval: the smaller of the status interval and a third of the publisher's wal_sender_timeout.
 *   <li>Soon after the flush position has moved, since a synchronous commit on the publisher may wait for it.
 *   <li>Within a tenth of a second after another position has moved.
 * </ul>
 */
final class StatusSchedule {

    /** Between two statuses that only a moved flush position makes due: under load each commit moves it. */
    private static final long FLUSH_SPACING_NANOS = Duration.ofMillis(20).toNanos();

    private static final long OTHER_SPACING_NANOS = Duration.ofMillis(100).toNanos();

    private final long intervalNanos;
    private FeedbackPositions sent = FeedbackPositions.NONE;
    private long sentAt;

    /** @param walSenderTimeout the publisher's; zero: it has none */
    StatusSchedule(Duration statusInterval, Duration walSenderTimeout, long now) {
        long interval = statusInterval.isZero() ? Long.MAX_VALUE : statusInterval.toNanos();
        long answerWithin = walSenderTimeout.isZero() ? Long.MAX_VALUE : walSenderTimeout.toNanos() / 3;
        this.intervalNanos = Math.min(interval, answerWithin);
        this.sentAt = now;
    }

    /** What to send for these positions: none goes back behind what was sent. */
    FeedbackPositions next(FeedbackPositions current) {
        return sent.max(current);
    }

    boolean isDue(FeedbackPositions current, long now) {
        long elapsed = now - sentAt;
        if (elapsed >= intervalNanos) {
            return true;
        }
        if (current.flush().isAfter(sent.flush())) {
            return elapsed >= FLUSH_SPACING_NANOS;
        }
        return elapsed >= OTHER_SPACING_NANOS && !next(current).equals(sent);
    }

    /** No sleep may be longer, lest a status comes late. */
    Duration longestSleep(Duration wished) {
        return intervalNanos / 2 < wished.toNanos() ? Duration.ofNanos(intervalNanos / 2) : wished;
    }

    void sent(FeedbackPositions positions, long now) {
        sent = positions;
        sentAt = now;
    }
}
