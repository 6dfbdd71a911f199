package dev.pgapply.worker.stream;

/**
 * Elapsed time in nanoseconds from an arbitrary start, as {@link System#nanoTime()} gives it; only differences have a meaning.
 * Comes in from outside, so that tests can turn the hand. Any thread.
 */
@FunctionalInterface
public interface Ticker {
    long nanos();
}
