package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.Tuple;
import java.util.List;

/**
 * COPY's text format (copyto.c, CopyAttributeOutText): tabs between columns, {@code \N} for NULL, and a backslash before what would
 * end a value. The encoding is UTF-8, in which no byte of a longer character looks like one of these.
 */
final class CopyTextEncoder implements CopyEncoder {

    @Override
    public String format() {
        return "text";
    }

    @Override
    public void append(Tuple row, List<BoundColumn> columns, CopyBuffer out) {
        for (int i = 0; i < columns.size(); i++) {
            int column = columns.get(i).remote();
            if (row.hasValue(column)) {
                int length = row.valueLength(column);
                out.reserve(Math.addExact(Math.multiplyExact(2, length), 1));
                escape(row.buffer(column), row.valueOffset(column), length, out);
            } else {
                out.reserve(3);
                out.put((byte) '\\');
                out.put((byte) 'N');
            }
            out.put((byte) (i == columns.size() - 1 ? '\n' : '\t'));
        }
    }

    private static void escape(byte[] from, int offset, int length, CopyBuffer out) {
        for (int i = offset; i < offset + length; i++) {
            byte value = from[i];
            switch (value) {
                case '\\' -> escaped('\\', out);
                case '\n' -> escaped('n', out);
                case '\r' -> escaped('r', out);
                case '\t' -> escaped('t', out);
                default -> out.put(value);
            }
        }
    }

    private static void escaped(char letter, CopyBuffer out) {
        out.put((byte) '\\');
        out.put((byte) letter);
    }
}
