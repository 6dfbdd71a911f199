package dev.pgapply.worker.stream;

import java.time.Duration;

/**
 * Whether the stream is so busy that bytes shall gather in the socket before the next read. A walsender writes each message by itself,
 * and a reader that sleeps in the socket has to be woken for each; that costs the walsender more than decoding. A lone transaction on
 * an idle stream is never kept waiting. Owned by the receiver's thread.
 */
final class Gulp {

    private static final long WINDOW_NANOS = Duration.ofMillis(2).toNanos();

    /** About twenty small messages: more than a lone small transaction, less than a walsender sends in the window under load. */
    private static final long BUSY_BYTES = 4096;

    private long windowStart;
    private long windowBytes;

    Gulp(long now) {
        windowStart = now;
    }

    /**
     * Called before each wait.
     *
     * @param totalBytes all that ever came
     */
    boolean isBusy(long totalBytes, long now) {
        boolean busy = totalBytes - windowBytes >= BUSY_BYTES && now - windowStart <= WINDOW_NANOS;
        if (busy || now - windowStart > WINDOW_NANOS) {
            windowStart = now;
            windowBytes = totalBytes;
        }
        return busy;
    }
}
