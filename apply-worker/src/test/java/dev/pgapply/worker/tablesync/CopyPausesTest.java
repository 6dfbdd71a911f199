package dev.pgapply.worker.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.tablesync.CopyPace;
import org.junit.jupiter.api.Test;

class CopyPausesTest {

    private static final long CHUNK = 100_000;
    private static final long MILLI = 1_000_000;

    /** Moved by hand until the pauses begin, then by the clock. */
    private long now = 1;

    private boolean ticking;
    private long tickingSince;
    private final CopyPace pace = new CopyPace(this::nanos);

    private long nanos() {
        return ticking ? now + System.nanoTime() - tickingSince : now;
    }

    private void transactions(int count, long delay) {
        for (int i = 0; i < count; i++) {
            now += 5 * MILLI;
            pace.applied(now - delay);
        }
    }

    @Test
    void a_worker_pauses_while_the_stream_is_kept_waiting_and_says_how_long() {
        CopyPauses pauses = new CopyPauses(pace);
        transactions(100, MILLI);
        pace.begin();
        long bytes = 0;
        for (int i = 0; i < 4; i++) {
            transactions(60, MILLI);
            bytes += CHUNK;
            pauses.copied(bytes);
        }
        assertThat(pauses.pausedNanos()).isZero();

        for (int i = 0; i < 4; i++) {
            transactions(60, 3 * MILLI);
            long unused = pace.carried(CHUNK);
        }
        ticking = true;
        tickingSince = System.nanoTime();
        pauses.copied(bytes + CHUNK);

        assertThat(pauses.pausedNanos()).isPositive();
    }
}
