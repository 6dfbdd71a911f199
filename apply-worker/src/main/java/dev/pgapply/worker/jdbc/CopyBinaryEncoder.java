package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.Tuple;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * COPY's binary format (copyto.c): a signature, flags and an empty extension; for each row an int16 with the number of columns and for
 * each column an int32 length, -1 for NULL, and the value; at the end an int16 of -1.
 */
final class CopyBinaryEncoder implements CopyEncoder {

    private static final byte[] SIGNATURE = "PGCOPY\n\377\r\n\0".getBytes(StandardCharsets.ISO_8859_1);

    @Override
    public String format() {
        return "binary";
    }

    @Override
    public void begin(CopyBuffer out) {
        out.reserve(SIGNATURE.length + 8);
        out.put(SIGNATURE, 0, SIGNATURE.length);
        out.putInt4(0);
        out.putInt4(0);
    }

    @Override
    public void append(Tuple row, List<BoundColumn> columns, CopyBuffer out) {
        out.reserve(2);
        out.putInt2(columns.size());
        for (BoundColumn bound : columns) {
            int column = bound.remote();
            if (row.hasValue(column)) {
                int length = row.valueLength(column);
                out.reserve(Math.addExact(4, length));
                out.putInt4(length);
                out.put(row.buffer(column), row.valueOffset(column), length);
            } else {
                out.reserve(4);
                out.putInt4(-1);
            }
        }
    }

    @Override
    public void end(CopyBuffer out) {
        out.reserve(2);
        out.putInt2(-1);
    }
}
