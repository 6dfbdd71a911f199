package dev.pgapply.core.pgoutput;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One row's columns as slices of the received message. Immutable by agreement: the tuple shares the bytes of the message it came in,
 * nobody writes to them, and they live as long as some tuple refers to them. Any thread may read it.
 *
 * <p>A column begins at its offset with its status byte ('n', 'u', 't', 'b'); for 't' and 'b' an int32 length and the value follow
 * (proto.c, logicalrep_write_tuple).
 */
public final class Tuple {

    private final byte[] buffer;
    private final int[] offsets;

    /** For each column the message that its bytes stand in; null while all of them stand in {@code buffer}. */
    private final byte @Nullable [][] buffers;

    /**
     * Takes both arrays over; it checks nothing, because the decoder has.
     *
     * @param buffer the bytes of the message
     * @param offsets where each column's status byte stands in {@code buffer}
     */
    public Tuple(byte[] buffer, int[] offsets) {
        this(buffer, offsets, null);
    }

    private Tuple(byte[] buffer, int[] offsets, byte @Nullable [][] buffers) {
        this.buffer = buffer;
        this.offsets = offsets;
        this.buffers = buffers;
    }

    public int columnCount() {
        return offsets.length;
    }

    public ColumnStatus status(int column) {
        return switch (statusByte(column)) {
            case 'n' -> ColumnStatus.NULL;
            case 'u' -> ColumnStatus.UNCHANGED;
            case 't' -> ColumnStatus.TEXT;
            default -> ColumnStatus.BINARY; // the decoder let no other byte through
        };
    }

    public boolean isNull(int column) {
        return statusByte(column) == 'n';
    }

    public boolean isUnchanged(int column) {
        return statusByte(column) == 'u';
    }

    public boolean hasValue(int column) {
        byte status = statusByte(column);
        return status == 't' || status == 'b';
    }

    /** Whether any column is UNCHANGED, so that this tuple alone does not say what the row is. */
    public boolean hasUnchanged() {
        for (int column = 0; column < offsets.length; column++) {
            if (isUnchanged(column)) {
                return true;
            }
        }
        return false;
    }

    /** The bytes that the column stands in, at {@link #valueOffset}; to be read only. */
    public byte[] buffer(int column) {
        return buffers == null ? buffer : buffers[column];
    }

    /** Where the column's value begins in {@link #buffer}; only for TEXT and BINARY. */
    public int valueOffset(int column) {
        return offsets[column] + 5;
    }

    /** The value's length in bytes; only for TEXT and BINARY. */
    public int valueLength(int column) {
        byte[] bytes = buffer(column);
        int at = offsets[column] + 1;
        return (bytes[at] & 0xFF) << 24
                | (bytes[at + 1] & 0xFF) << 16
                | (bytes[at + 2] & 0xFF) << 8
                | (bytes[at + 3] & 0xFF);
    }

    /** The column's value as text, or null for NULL; only for NULL and TEXT. */
    public @Nullable String text(int column) {
        if (isNull(column)) {
            return null;
        }
        return new String(buffer(column), valueOffset(column), valueLength(column), StandardCharsets.UTF_8);
    }

    /**
     * Whether two columns were sent alike: both NULL, or of the same status with the same bytes. UNCHANGED is like nothing, not even
     * another UNCHANGED, because the value is not known.
     */
    public boolean sameBytes(int column, Tuple other, int otherColumn) {
        byte status = statusByte(column);
        if (status != other.statusByte(otherColumn) || status == 'u') {
            return false;
        }
        if (status == 'n') {
            return true;
        }
        int from = valueOffset(column);
        int otherFrom = other.valueOffset(otherColumn);
        return Arrays.equals(
                buffer(column),
                from,
                from + valueLength(column),
                other.buffer(otherColumn),
                otherFrom,
                otherFrom + other.valueLength(otherColumn));
    }

    /** FNV-1a's prime: keys are often small numbers in binary form, which the usual 31 would throw together. */
    private static final int HASH_PRIME = 16_777_619;

    /** A hash of what was sent for the column; equal where {@link #sameBytes} is true. */
    public int hashOf(int column) {
        int hash = statusByte(column);
        if (hasValue(column)) {
            byte[] bytes = buffer(column);
            int from = valueOffset(column);
            int to = from + valueLength(column);
            for (int at = from; at < to; at++) {
                hash = (hash ^ bytes[at]) * HASH_PRIME;
            }
        }
        return hash;
    }

    /**
     * This tuple with the earlier one's value wherever this one says UNCHANGED: what the row is after both changes. No value is copied;
     * the merged tuple keeps both messages alive. A column that is UNCHANGED in both stays so.
     *
     * @param earlier the row's tuple before this change, of the same relation
     */
    public Tuple withUnchangedFrom(Tuple earlier) {
        if (earlier.columnCount() != columnCount()) {
            throw new IllegalArgumentException(
                    "a tuple of " + columnCount() + " columns cannot take values from one of " + earlier.columnCount());
        }
        if (!hasUnchanged()) {
            return this;
        }
        int[] mergedOffsets = new int[offsets.length];
        byte[][] mergedBuffers = new byte[offsets.length][];
        for (int column = 0; column < offsets.length; column++) {
            Tuple source = isUnchanged(column) ? earlier : this;
            mergedOffsets[column] = source.offsets[column];
            mergedBuffers[column] = source.buffer(column);
        }
        return new Tuple(buffer, mergedOffsets, mergedBuffers);
    }

    private byte statusByte(int column) {
        return buffer(column)[offsets[column]];
    }

    /** What kind of value each column has, and how long; never the values, which are the operator's and do not belong in a log. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Tuple(");
        for (int column = 0; column < offsets.length; column++) {
            text.append(column == 0 ? "" : ", ").append((char) statusByte(column));
            if (hasValue(column)) {
                text.append(valueLength(column));
            }
        }
        return text.append(')').toString();
    }
}
