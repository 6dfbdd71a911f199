package dev.pgapply.launcher.text;

import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.TableProgress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a subscription's copy is, all tables together.
 *
 * @param rowsEstimated the publisher's estimate; a table that has passed its own counts as it is
 * @param bytesEstimated the same for bytes: the tables' size on the publisher's disk, not what goes over the wire
 */
public record CopyProgress(
        long tablesDone, long tables, long rows, long rowsEstimated, long bytes, long bytesEstimated) {

    private static final int BAR_WIDTH = 20;

    public static CopyProgress of(SubscriptionStats stats) {
        return of(stats.tables());
    }

    public static CopyProgress of(List<TableProgress> tables) {
        long done = 0;
        long rows = 0;
        long rowsEstimated = 0;
        long bytes = 0;
        long bytesEstimated = 0;
        for (TableProgress table : tables) {
            boolean copied = table.isCopied();
            done += copied ? 1 : 0;
            rows += table.rowsCopied();
            rowsEstimated += copied ? table.rowsCopied() : Math.max(table.rowsCopied(), table.rowsEstimated());
            bytes += table.bytesCopied();
            bytesEstimated += copied ? table.bytesCopied() : Math.max(table.bytesCopied(), table.bytesEstimated());
        }
        return new CopyProgress(done, tables.size(), rows, rowsEstimated, bytes, bytesEstimated);
    }

    /** From 0 to 1; 1 only when all tables are done. */
    public double fraction() {
        if (tables == 0 || tablesDone == tables) {
            return tables == 0 ? 0 : 1;
        }
        double byRows = rowsEstimated == 0 ? (double) tablesDone / tables : (double) rows / rowsEstimated;
        return Math.min(byRows, 0.99);
    }

    /** How long it takes from here at that rate; null where nobody knows, zero when it is done. */
    public @Nullable Duration remaining(double rowsPerSecond) {
        if (tables > 0 && tablesDone == tables) {
            return Duration.ZERO;
        }
        long left = rowsEstimated - rows;
        return rowsPerSecond <= 0 || left <= 0 ? null : Duration.ofMillis(Math.round(left * 1000 / rowsPerSecond));
    }

    /** {@code [#####...............]}. */
    public static String bar(double fraction) {
        int full = (int) Math.round(fraction * BAR_WIDTH);
        return "[" + "#".repeat(full) + ".".repeat(BAR_WIDTH - full) + "]";
    }
}
