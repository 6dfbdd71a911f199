package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Writes a message field by field, as pqformat.c does. */
final class MessageBytes {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    static MessageBytes message(char type) {
        return new MessageBytes().int8(type);
    }

    /** Bytes in hexadecimal; blanks are for the reader. */
    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replaceAll("\\s", ""));
    }

    MessageBytes int8(int value) {
        bytes.write(value);
        return this;
    }

    MessageBytes int16(int value) {
        return int8(value >>> 8).int8(value);
    }

    MessageBytes int32(int value) {
        return int16(value >>> 16).int16(value);
    }

    MessageBytes int64(long value) {
        return int32((int) (value >>> 32)).int32((int) value);
    }

    MessageBytes lsn(String lsn) {
        return int64(Lsn.parse(lsn).value());
    }

    MessageBytes string(String value) {
        bytes.writeBytes(value.getBytes(StandardCharsets.UTF_8));
        return int8(0);
    }

    /** A text column. */
    MessageBytes text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        int8('t').int32(utf8.length);
        return raw(utf8);
    }

    MessageBytes raw(byte... value) {
        bytes.writeBytes(value);
        return this;
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
