package dev.pgapply.worker.stats;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the copy of one table stands.
 *
 * @param state PostgreSQL's srsubstate letter: i, d, f, s, r
 * @param syncLsn the position at which the copy is consistent, once it is known
 * @param rowsEstimated the publisher's estimate, -1 if it has none
 * @param bytesEstimated the publisher's estimate, -1 if it has none
 * @param copying how long its copy has run, or ran; zero before it began
 */
public record TableProgress(
        QualifiedName table,
        char state,
        @Nullable Lsn syncLsn,
        long rowsCopied,
        long rowsEstimated,
        long bytesCopied,
        long bytesEstimated,
        Duration copying,
        @Nullable String error) {

    /** A table whose copy does not run. */
    public TableProgress(
            QualifiedName table,
            char state,
            @Nullable Lsn syncLsn,
            long rowsCopied,
            long rowsEstimated,
            long bytesCopied,
            long bytesEstimated,
            @Nullable String error) {
        this(table, state, syncLsn, rowsCopied, rowsEstimated, bytesCopied, bytesEstimated, Duration.ZERO, error);
    }

    /** Whether the copy is done, or there is none to do. */
    public boolean isCopied() {
        return state != 'i' && state != 'd';
    }

    /** How fast its copy was so far; 0 before it began. */
    public double rowsPerSecond() {
        return copying.isZero() ? 0 : rowsCopied * 1e9 / copying.toNanos();
    }

    /** How fast its copy was so far; 0 before it began. */
    public double bytesPerSecond() {
        return copying.isZero() ? 0 : bytesCopied * 1e9 / copying.toNanos();
    }

    /** How long it takes from here at the pace so far; null where nobody knows, zero when it is copied. */
    public @Nullable Duration remaining() {
        if (isCopied()) {
            return Duration.ZERO;
        }
        double pace = rowsPerSecond();
        return pace == 0 || rowsEstimated <= rowsCopied
                ? null
                : Duration.ofMillis(Math.round((rowsEstimated - rowsCopied) * 1000 / pace));
    }
}
