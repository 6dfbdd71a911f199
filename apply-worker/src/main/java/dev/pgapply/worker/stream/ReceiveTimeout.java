package dev.pgapply.worker.stream;

import java.time.Duration;

/**
 * How long the publisher has been silent (worker.c, LogicalRepApplyLoop; SEMANTICS S-25): at half the timeout it is asked for a reply,
 * once; at the whole the connection is given up. Runs only while the receiver reads. Owned by the receiver's thread.
 */
final class ReceiveTimeout {

    private final long timeoutNanos;
    private long heardAt;
    private boolean asked;

    /** @param timeout zero: never */
    ReceiveTimeout(Duration timeout, long now) {
        this.timeoutNanos = timeout.isZero() ? Long.MAX_VALUE : timeout.toNanos();
        this.heardAt = now;
    }

    /** Bytes have come, or nobody was listening. */
    void restart(long now) {
        heardAt = now;
        asked = false;
    }

    /** True once in a silence. */
    boolean shallAsk(long now) {
        if (asked || now - heardAt < timeoutNanos / 2) {
            return false;
        }
        asked = true;
        return true;
    }

    boolean isOver(long now) {
        return now - heardAt >= timeoutNanos;
    }
}
