package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.ColumnStatus;
import dev.pgapply.core.pgoutput.Tuple;
import java.util.Arrays;

/**
 * Whether columns come in one format only, all text or all binary: bytes of different formats say nothing about equality. A
 * publisher keeps to one format; nothing in its protocol promises that.
 */
final class SentFormats {

    private final int[] columns;
    private final ColumnStatus[] seen;

    SentFormats(int[] columns) {
        this.columns = columns;
        this.seen = new ColumnStatus[columns.length];
        Arrays.fill(seen, ColumnStatus.NULL);
    }

    /** Takes note of a tuple; false if a column is not known (UNCHANGED) or came in another format before. */
    boolean agree(Tuple tuple) {
        for (int i = 0; i < columns.length; i++) {
            ColumnStatus status = tuple.status(columns[i]);
            if (status == ColumnStatus.UNCHANGED) {
                return false;
            }
            if (status != ColumnStatus.NULL) {
                if (seen[i] == ColumnStatus.NULL) {
                    seen[i] = status;
                } else if (seen[i] != status) {
                    return false;
                }
            }
        }
        return true;
    }
}
