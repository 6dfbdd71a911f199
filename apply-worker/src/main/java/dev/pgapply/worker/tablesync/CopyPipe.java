package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.sql.SQLException;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyOut;

/**
 * Carries a COPY from the publisher to the target. Small rows are gathered, a large one is handed on as it came; so what is in memory is
 * one row and a small buffer, whatever the table; and where rows are wide, one row for all workers together, once a COPY has met its
 * first. Owned by a copy worker's thread.
 */
final class CopyPipe {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** So many rows behind a wide one may be wide too. */
    private static final int EXPECTED_AFTER_WIDE = 64;

    /** Told after each row. */
    interface RowListener {
        void copied(long rows, long bytes);

        /** Whether the target is known to have refused a row: the driver itself asks for the answer only at the end. */
        boolean targetRefused();
    }

    /**
     * @param rowsSent as the publisher counted
     * @param rowsTaken as the target counted: without those that its triggers suppressed
     */
    record Result(long rowsSent, long rowsTaken, long bytes) {}

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final WideRows wideRows;
    private int filled;

    /** @param wideRows shared by all workers of the copy */
    CopyPipe(WideRows wideRows) {
        this.wideRows = wideRows;
    }

    /**
     * When this returns the rows are in the target's open transaction.
     *
     * @param wideAtFirst whether the first row may be a wide one, for all that is known
     * @throws SQLException what either server says, the target's refusal among it
     */
    Result carry(CopyOut out, CopyIn in, boolean wideAtFirst, RowListener listener) throws SQLException {
        long rows = 0;
        long bytes = 0;
        filled = 0;
        int wideRowsExpected = wideAtFirst ? 1 : 0;
        // The server sends each row as one message; in binary format the trailer is one more.
        while (true) {
            int length = carryRow(out, in, wideRowsExpected > 0);
            if (length < 0) {
                break;
            }
            wideRowsExpected = length >= WideRows.WIDE_BYTES ? EXPECTED_AFTER_WIDE : Math.max(0, wideRowsExpected - 1);
            rows++;
            bytes += length;
            listener.copied(rows, bytes);
            if (listener.targetRefused()) {
                in.endCopy();
                throw new ApplyException(Kind.INTERNAL, "the target took a COPY that it had refused");
            }
        }
        flush(in);
        long taken = in.endCopy();
        return new Result(out.getHandledRowCount(), taken, bytes);
    }

    /** @return the row's length; -1 if there is none */
    private int carryRow(CopyOut out, CopyIn in, boolean wide) throws SQLException {
        boolean turn = wide && wideRows.begin();
        try {
            byte[] row = out.readFromCopy();
            if (row == null) {
                return -1;
            }
            write(in, row);
            return row.length;
        } finally {
            if (turn) {
                wideRows.end();
            }
        }
    }

    private void write(CopyIn in, byte[] row) throws SQLException {
        if (row.length > buffer.length - filled) {
            flush(in);
        }
        if (row.length > buffer.length) {
            in.writeToCopy(row, 0, row.length);
            return;
        }
        System.arraycopy(row, 0, buffer, filled, row.length);
        filled += row.length;
    }

    private void flush(CopyIn in) throws SQLException {
        if (filled > 0) {
            in.writeToCopy(buffer, 0, filled);
            filled = 0;
        }
    }
}
