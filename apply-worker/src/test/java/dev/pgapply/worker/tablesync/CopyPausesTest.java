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
        transactions(100, MILLI);
        try (CopyPauses pauses = new CopyPauses(pace)) {
            long bytes = carryBeside(pauses, MILLI);
            assertThat(pauses.pausedNanos()).isZero();
            bytes += carryBeside(pauses, 3 * MILLI);
            ticking = true;
            tickingSince = System.nanoTime();
            pauses.copied(bytes + CHUNK);

            assertThat(pauses.pausedNanos()).isPositive();
        }
    }

    @Test
    void what_is_usual_is_not_learned_while_a_worker_copies() {
        try (CopyPauses pauses = new CopyPauses(pace)) {
            carryBeside(pauses, MILLI);
        }
        transactions(100, 3 * MILLI);
        try (CopyPauses pauses = new CopyPauses(pace)) {
            carryBeside(pauses, 3 * MILLI);

            assertThat(pauses.pausedNanos())
                    .as("what came between the two is usual")
                    .isZero();
        }
    }

    /** Some windows of transactions, with rows in each. @return how many bytes */
    private long carryBeside(CopyPauses pauses, long delay) {
        long bytes = 0;
        for (int i = 0; i < 4; i++) {
            transactions(60, delay);
            bytes += CHUNK;
            pauses.copied(bytes);
        }
        return bytes;
    }
}
