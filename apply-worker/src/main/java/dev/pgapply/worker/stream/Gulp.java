package dev.pgapply.worker.stream;

import java.time.Duration;

/**
 * How long bytes shall gather in the socket before the next read. A walsender writes each message by itself, and a reader that is at
 * once at each of them takes more of the machine than all the rest of the way: the kernel delivers every message alone, and batches
 * stay small. A lone transaction on an idle stream is never kept waiting, and whoever is behind waits for a small part of what it is
 * behind. Owned by the receiver's thread.
 */
final class Gulp {

    /** Behind by much, this is all that there is to win; it must not fill a socket's buffer. */
    static final Duration LONGEST = Duration.ofMillis(40);

    private static final int PART_OF_LAG = 8;

    private static final long WINDOW_NANOS = Duration.ofMillis(2).toNanos();

    /** About twenty small messages: more than a lone small transaction, less than a walsender sends in the window under load. */
    private static final long BUSY_BYTES = 4096;

    private final Duration shortest;
    private long windowStart;
    private long windowBytes;

    /** @param shortest how long while the stream is busy and the publisher's commits have just happened; zero: never */
    Gulp(Duration shortest, long now) {
        this.shortest = shortest;
        this.windowStart = now;
    }

    /**
     * Called before each wait.
     *
     * @param totalBytes all that ever came
     * @param lag how far behind its commits the walsender is
     * @return zero while the stream is not busy
     */
    Duration length(long totalBytes, Duration lag, long now) {
        if (shortest.isZero() || !isBusy(totalBytes, now)) {
            return Duration.ZERO;
        }
        Duration part = lag.dividedBy(PART_OF_LAG);
        if (part.compareTo(shortest) < 0) {
            return shortest;
        }
        return part.compareTo(LONGEST) < 0 ? part : LONGEST;
    }

    /** By the rate since the window began, which may hold a gulp. */
    private boolean isBusy(long totalBytes, long now) {
        long bytes = totalBytes - windowBytes;
        long elapsed = now - windowStart;
        boolean busy = bytes >= BUSY_BYTES && bytes / BUSY_BYTES >= elapsed / WINDOW_NANOS;
        if (busy || elapsed > WINDOW_NANOS) {
            windowStart = now;
            windowBytes = totalBytes;
        }
        return busy;
    }
}
