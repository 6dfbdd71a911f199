package dev.pgapply.core.pgoutput;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Reads fields of one message after the other, in network byte order (pqformat.c). Every read is checked against the message's end
 * first; a field that does not fit is a protocol violation. Owned by its decoder's thread.
 */
final class MessageCursor {

    /** 2000-01-01 00:00:00 UTC, PostgreSQL's epoch, in seconds since 1970 (POSTGRES_EPOCH_JDATE). */
    private static final long POSTGRES_EPOCH_SECONDS = 946_684_800L;

    private static final long MICROS_PER_SECOND = 1_000_000L;

    private static final byte[] NOTHING = {};

    private byte[] buffer = NOTHING;
    private int start;
    private int position;
    private int end;
    private String message = "";

    /** Turns to a message whose type byte is read already. */
    void open(byte[] buffer, int offset, int length, MessageType type) {
        this.buffer = buffer;
        this.start = offset;
        this.position = offset + 1;
        this.end = offset + length;
        this.message = type.label();
    }

    /** Lets the message's bytes go; they may be many. */
    void close() {
        buffer = NOTHING;
        position = 0;
        end = 0;
    }

    int remaining() {
        return end - position;
    }

    byte int8() {
        require(1);
        return buffer[position++];
    }

    int int32() {
        require(4);
        int value = int32At(position);
        position += 4;
        return value;
    }

    long int64() {
        require(8);
        long value = (long) int32At(position) << 32 | (int32At(position + 4) & 0xFFFFFFFFL);
        position += 8;
        return value;
    }

    /**
     * A 16-bit number of elements.
     *
     * @param minBytes the least that one element takes, so that a count which cannot be true allocates nothing
     */
    int count16(String elements, int minBytes) {
        require(2);
        int count = (short) ((buffer[position] & 0xFF) << 8 | (buffer[position + 1] & 0xFF));
        position += 2;
        return checkedCount(count, elements, minBytes);
    }

    /** A 32-bit number of elements; see {@link #count16}. */
    int count32(String elements, int minBytes) {
        return checkedCount(int32(), elements, minBytes);
    }

    private int checkedCount(int count, String elements, int minBytes) {
        if (count < 0) {
            throw violation("negative number of " + elements + " " + count + " in " + message + " message");
        }
        if (count > remaining() / minBytes) {
            throw violation("insufficient data left in " + message + " message: " + count + " " + elements
                    + " announced, " + remaining() + " bytes left");
        }
        return count;
    }

    /** A position that must be set. */
    Lsn lsn(String field) {
        long value = int64();
        if (value == 0) {
            throw notSet(field);
        }
        return new Lsn(value);
    }

    /** Microseconds since 2000-01-01; no 64-bit value is out of Instant's range. */
    Instant timestamp() {
        long micros = int64();
        return Instant.ofEpochSecond(
                POSTGRES_EPOCH_SECONDS + Math.floorDiv(micros, MICROS_PER_SECOND),
                Math.floorMod(micros, MICROS_PER_SECOND) * 1_000L);
    }

    /** A name: UTF-8, ended by a zero byte. */
    String string() {
        int at = position;
        while (at < end && buffer[at] != 0) {
            at++;
        }
        if (at == end) {
            throw violation("invalid string in " + message + " message: no zero byte ends what begins at byte "
                    + (position - start));
        }
        ByteBuffer bytes = ByteBuffer.wrap(buffer, position, at - position);
        int from = position - start;
        position = at + 1;
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException e) {
            throw violation("invalid string in " + message + " message: what begins at byte " + from + " is not UTF-8");
        }
    }

    /** A copy of the next bytes, which their 32-bit number precedes. */
    byte[] bytes() {
        int length = count32("bytes", 1);
        byte[] copy = new byte[length];
        System.arraycopy(buffer, position, copy, 0, length);
        position += length;
        return copy;
    }

    /** A byte in which only some bits have a meaning. */
    int flags(int known) {
        int flags = int8() & 0xFF;
        if ((flags & ~known) != 0) {
            throw violation("unrecognized flags " + flags + " in " + message + " message");
        }
        return flags;
    }

    /** A row (proto.c, logicalrep_read_tuple). This is the hot path: it allocates the tuple and its offsets, and nothing else. */
    Tuple tuple() {
        int columns = count16("columns", 1);
        int[] offsets = new int[columns];
        for (int column = 0; column < columns; column++) {
            require(1);
            offsets[column] = position;
            byte status = buffer[position++];
            if (status == 't' || status == 'b') {
                int length = count32("bytes of a column", 1); // not "position +=": that would read position first
                position += length;
            } else if (status != 'n' && status != 'u') {
                throw violation("unrecognized column status " + (status & 0xFF) + " of column " + (column + 1) + " in "
                        + message + " message");
            }
        }
        return new Tuple(buffer, offsets);
    }

    /** The message must be read to its end. */
    void expectEnd() {
        if (remaining() > 0) {
            throw violation("invalid " + message + " message: " + remaining() + " bytes follow its end");
        }
    }

    ApplyException notSet(String field) {
        return violation(field + " is not set in " + message + " message");
    }

    ApplyException unexpectedByte(String field, byte value) {
        return violation("unrecognized " + field + " " + (value & 0xFF) + " in " + message + " message");
    }

    static ApplyException violation(String text) {
        return new ApplyException(ApplyException.Kind.PROTOCOL_VIOLATION, text);
    }

    private void require(int bytes) {
        if (bytes > end - position) {
            throw violation("insufficient data left in " + message + " message: " + bytes + " bytes needed at byte "
                    + (position - start) + ", " + remaining() + " left");
        }
    }

    private int int32At(int at) {
        return (buffer[at] & 0xFF) << 24
                | (buffer[at + 1] & 0xFF) << 16
                | (buffer[at + 2] & 0xFF) << 8
                | (buffer[at + 3] & 0xFF);
    }
}
