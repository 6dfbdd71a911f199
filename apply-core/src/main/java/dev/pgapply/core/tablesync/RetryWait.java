package dev.pgapply.core.tablesync;

import java.time.Duration;

/**
 * When a table whose copy has failed is tried again: after 1 s, then after twice as long each time, at most a minute. Immutable; times are a
 * ticker's nanoseconds.
 *
 * @param failures how often in a row it has failed
 * @param dueNanos when it may be tried
 */
public record RetryWait(int failures, long dueNanos) {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int DOUBLINGS = 6;

    /** A table that has not failed yet. */
    public static RetryWait none(long nowNanos) {
        return new RetryWait(0, nowNanos);
    }

    /** It has failed once more. */
    public RetryWait failed(long nowNanos) {
        Duration doubled = FIRST.multipliedBy(1L << Math.min(failures, DOUBLINGS));
        Duration wait = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
        return new RetryWait(failures + 1, nowNanos + wait.toNanos());
    }

    public boolean isDue(long nowNanos) {
        return nowNanos - dueNanos >= 0;
    }
}
