package dev.pgapply.it.support;

import java.time.Duration;

/**
 * The pace of writers that go on for as long as a test needs them. Without one, what they pile up while an engine or a server starts
 * is most of a test's work.
 */
public final class Pace {

    /** Some hundred transactions a second with a few writers, among them large ones; with -Plong as fast as they can. */
    private static final Duration PAUSE = RunOptions.duration(Duration.ofMillis(10), Duration.ZERO);

    private Pace() {}

    /** Between two transactions, on the writer's thread. */
    public static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted between two transactions", e);
        }
    }
}
