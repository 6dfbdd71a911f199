package dev.pgapply.worker.tablesync;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds what the wide rows of all workers of a copy take in memory together: a worker that expects one waits until there is room, and
 * one worker always has room. Thread-safe; a {@link Share} belongs to one worker's thread.
 *
 * <p>The driver keeps a row until it reads the next, so a worker keeps its share between its rows, and may hold it for as long as its COPY
 * takes. Meanwhile it may wait, in the target, for a row that another worker's open transaction has written, while that worker waits
 * here: whoever looks after the workers sees that and calls {@link #letAllPass}.
 */
final class WideRows {

    /** From this size on a row is wide. */
    static final int WIDE_BYTES = 1024 * 1024;

    /** A row of unknown width: all the room that there is. */
    static final long UNKNOWN = Long.MAX_VALUE;

    private static final long LOOK_AGAIN_MILLIS = 200;
    private static final int UNIT_BYTES = 1024;

    private final Semaphore room;
    private final int units;
    private volatile boolean passing;

    /** @param maxBytes the room for wide rows; a row that is wider has all of it */
    WideRows(long maxBytes) {
        this.units = (int) Math.max(1, Math.min(Integer.MAX_VALUE, maxBytes / UNIT_BYTES));
        this.room = new Semaphore(units, true);
    }

    /** Nobody waits any more: better a heap too full than workers that wait for each other. */
    void letAllPass() {
        passing = true;
    }

    Share share() {
        return new Share();
    }

    /** What one worker has of the room; nothing at first. */
    final class Share {

        private int held;

        /** Makes the share this large before the next row is read; waits while others have the room. 0 gives it back. */
        void hold(long bytes) {
            int wanted = (int) Math.min(units, (bytes + UNIT_BYTES - 1) / UNIT_BYTES);
            if (bytes == UNKNOWN) {
                wanted = units;
            }
            if (wanted <= held) {
                room.release(held - wanted);
                held = wanted;
                return;
            }
            // All at once, or two workers with a part each would wait for each other.
            room.release(held);
            held = 0;
            try {
                while (!passing) {
                    if (room.tryAcquire(wanted, LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                        held = wanted;
                        return;
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
