package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.sql.SQLException;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyOut;

/**
 * Carries a COPY from the publisher to the target. Small rows are gathered, a large one is handed on as it came; so what is in memory is
 * one row and a small buffer, whatever the table; and wide rows share the room of {@link WideRows} with the other workers, once a COPY has
 * met its first. Owned by a copy worker's thread.
 */
final class CopyPipe {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** So many narrow rows may come before the next wide one is no surprise any more. */
    private static final int MAY_FOLLOW_A_WIDE_ROW = 64;

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
    private final WideRows.Share share;
    private int filled;

    /** @param wideRows shared by all workers of the copy */
    CopyPipe(WideRows wideRows) {
        this.share = wideRows.share();
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
        long expected = wideAtFirst ? WideRows.UNKNOWN : 0;
        int narrowRows = 0;
        try {
            // The server sends each row as one message; in binary format the trailer is one more.
            while (true) {
                share.hold(expected);
                int length = carryRow(out, in);
                if (length < 0) {
                    break;
                }
                narrowRows = length >= WideRows.WIDE_BYTES ? 0 : narrowRows + 1;
                expected = narrowRows == 0 ? length : narrowRows > MAY_FOLLOW_A_WIDE_ROW ? 0 : expected;
                rows++;
                bytes += length;
                listener.copied(rows, bytes);
                if (listener.targetRefused()) {
                    in.endCopy();
                    throw new ApplyException(Kind.INTERNAL, "the target took a COPY that it had refused");
                }
            }
        } finally {
            share.hold(0);
        }
        flush(in);
        long taken = in.endCopy();
        return new Result(out.getHandledRowCount(), taken, bytes);
    }

    /** @return the row's length; -1 if there is none */
    private int carryRow(CopyOut out, CopyIn in) throws SQLException {
        byte[] row = out.readFromCopy();
        if (row == null) {
            return -1;
        }
        write(in, row);
        return row.length;
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
