package dev.pgapply.core.pgoutput;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One row's columns as slices of the received message. Immutable by agreement: the tuple shares {@code buffer} with the message it
 * came in, nobody writes to it, and it lives as long as some tuple refers to it.
 *
 * <p>A column begins at its offset with its status byte ('n', 'u', 't', 'b'); for 't' and 'b' an int32 length and the value follow.
 *
 * @param buffer the bytes of the message
 * @param offsets where each column's status byte stands in {@code buffer}
 */
public record Tuple(byte[] buffer, int[] offsets) {

    public int columnCount() {
        return offsets.length;
    }

    public ColumnStatus status(int column) {
        return switch (buffer[offsets[column]]) {
            case 'n' -> ColumnStatus.NULL;
            case 'u' -> ColumnStatus.UNCHANGED;
            case 't' -> ColumnStatus.TEXT;
            default -> ColumnStatus.BINARY; // the decoder let no other byte through
        };
    }

    public boolean isNull(int column) {
        return buffer[offsets[column]] == 'n';
    }

    public boolean isUnchanged(int column) {
        return buffer[offsets[column]] == 'u';
    }

    public boolean hasValue(int column) {
        byte status = buffer[offsets[column]];
        return status == 't' || status == 'b';
    }

    /** Where the column's value begins in {@link #buffer()}; only for TEXT and BINARY. */
    public int valueOffset(int column) {
        return offsets[column] + 5;
    }

    /** The value's length in bytes; only for TEXT and BINARY. */
    public int valueLength(int column) {
        int at = offsets[column] + 1;
        return (buffer[at] & 0xFF) << 24
                | (buffer[at + 1] & 0xFF) << 16
                | (buffer[at + 2] & 0xFF) << 8
                | (buffer[at + 3] & 0xFF);
    }

    /** The column's value as text, or null for NULL; only for NULL and TEXT. */
    public @Nullable String text(int column) {
        if (isNull(column)) {
            return null;
        }
        return new String(buffer, valueOffset(column), valueLength(column), StandardCharsets.UTF_8);
    }
}
