package dev.pgapply.worker.tablesync;

import dev.pgapply.core.tablesync.CopyPace;
import java.util.concurrent.locks.LockSupport;

/** Where a copy worker pauses, so that the stream goes first. Owned by the worker's thread, used for one COPY. */
final class CopyPauses {

    /** Often enough that a pause is short, seldom enough that asking costs nothing. */
    private static final long BYTES_BETWEEN = 64 * 1024;

    private final CopyPace pace;
    private long toldBytes;
    private long pausedNanos;

    CopyPauses(CopyPace pace) {
        this.pace = pace;
    }

    /** @param bytes all that the COPY has carried */
    void copied(long bytes) {
        long more = bytes - toldBytes;
        if (more < BYTES_BETWEEN) {
            return;
        }
        toldBytes = bytes;
        long pause = pace.carried(more);
        if (pause > 0) {
            long begun = pace.now();
            LockSupport.parkNanos(this, pause);
            pausedNanos += pace.now() - begun;
        }
    }

    /** All pauses so far. */
    long pausedNanos() {
        return pausedNanos;
    }
}
