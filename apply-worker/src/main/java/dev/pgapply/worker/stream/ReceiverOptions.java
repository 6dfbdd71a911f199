package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;
import java.time.Duration;

/**
 * What a receiver streams and how it keeps time.
 *
 * @param subscription its name: the walsender's application_name and the thread's name
 * @param startLsn where to start; the publisher starts at the later of this and the slot's confirmed_flush_lsn
 * @param statusInterval at least this often a status goes to the publisher; zero: only as often as its wal_sender_timeout needs
 * @param receiveTimeout this long without a byte from the publisher, while reading, ends the connection; zero: never
 * @param gulp how long bytes gather in the socket at least while the stream is busy; zero: read each message as it comes
 */
public record ReceiverOptions(
        String subscription,
        String slotName,
        Lsn startLsn,
        PgOutputOptions pgOutput,
        Duration statusInterval,
        Duration receiveTimeout,
        Duration gulp) {

    /** One wake-up of the walsender's peer a millisecond costs nothing; one for each message costs the walsender half its time. */
    public static final Duration DEFAULT_GULP = Duration.ofMillis(1);

    public ReceiverOptions {
        if (statusInterval.isNegative() || receiveTimeout.isNegative() || gulp.isNegative()) {
            throw new IllegalArgumentException("intervals must not be negative: statusInterval " + statusInterval
                    + ", receiveTimeout " + receiveTimeout + ", gulp " + gulp);
        }
    }

    public ReceiverOptions(
            String subscription,
            String slotName,
            Lsn startLsn,
            PgOutputOptions pgOutput,
            Duration statusInterval,
            Duration receiveTimeout) {
        this(subscription, slotName, startLsn, pgOutput, statusInterval, receiveTimeout, DEFAULT_GULP);
    }
}
