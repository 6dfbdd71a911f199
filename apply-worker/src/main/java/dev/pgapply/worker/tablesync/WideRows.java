package dev.pgapply.worker.tablesync;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Lets only one worker at a time hold a wide row in memory, so that what a copy needs does not grow with its workers. Thread-safe.
 *
 * <p>It is no lock: a worker may wait, in the target, for a row that another worker's open transaction has written, and that worker must
 * not wait here for ever. Who has waited for {@link #PATIENCE_MILLIS} goes on.
 */
final class WideRows {

    /** From this size on a row is wide. */
    static final int WIDE_BYTES = 1024 * 1024;

    private static final long PATIENCE_MILLIS = 5_000;

    private final Semaphore turn = new Semaphore(1, true);

    /** @return whether it is this worker's turn, which it must {@link #end}; false if that took too long */
    boolean begin() {
        try {
            return turn.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    void end() {
        turn.release();
    }
}
