package dev.pgapply.launcher.console;

import dev.pgapply.worker.stats.TableProgress;
import java.util.List;

/**
 * How far a subscription's copy is, all tables together.
 *
 * @param rowsEstimated the publisher's estimate; a table that has passed its own counts as it is
 */
record CopyProgress(long tablesDone, long tables, long rows, long rowsEstimated, long bytes) {

    static CopyProgress of(List<TableProgress> tables) {
        long done = 0;
        long rows = 0;
        long rowsEstimated = 0;
        long bytes = 0;
        for (TableProgress table : tables) {
            boolean copied = table.state() != 'i' && table.state() != 'd';
            done += copied ? 1 : 0;
            rows += table.rowsCopied();
            rowsEstimated += copied ? table.rowsCopied() : Math.max(table.rowsCopied(), table.rowsEstimated());
            bytes += table.bytesCopied();
        }
        return new CopyProgress(done, tables.size(), rows, rowsEstimated, bytes);
    }

    /** From 0 to 1; 1 only when all tables are done. */
    double fraction() {
        if (tables == 0 || tablesDone == tables) {
            return tables == 0 ? 0 : 1;
        }
        double byRows = rowsEstimated == 0 ? (double) tablesDone / tables : (double) rows / rowsEstimated;
        return Math.min(byRows, 0.99);
    }

    long rowsLeft() {
        return Math.max(0, rowsEstimated - rows);
    }
}
