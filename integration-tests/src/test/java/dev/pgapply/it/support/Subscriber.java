package dev.pgapply.it.support;

/**
 * Whoever applies one subscription's changes to a target: the engine, or PostgreSQL's own subscription as the oracle. Owned by the
 * test's thread.
 */
public interface Subscriber extends AutoCloseable {

    /** Waits until the initial copy is done and changes are streamed. */
    void awaitStreaming();

    /** Waits until all that is committed on the publisher now is applied on the target and confirmed as flushed. */
    void awaitCaughtUp();

    /** Stops applying in an orderly way; the slot stays. */
    void stop();

    /** Goes on after {@link #stop}. */
    void start();

    @Override
    void close();
}
