package dev.pgapply.core;

import java.util.HexFormat;
import java.util.Locale;

/**
 * A position in a server's write-ahead log (PostgreSQL's {@code XLogRecPtr}): an unsigned byte offset, written as two hexadecimal
 * numbers.
 *
 * @param value the position as an unsigned 64-bit number
 */
public record Lsn(long value) implements Comparable<Lsn> {

    /** PostgreSQL's {@code InvalidXLogRecPtr}: before every position. */
    public static final Lsn ZERO = new Lsn(0);

    /**
     * Reads {@code X/Y}. Servers up to 18 print it without leading zeros, newer ones pad the second number; both are read.
     *
     * @throws IllegalArgumentException if the text is no LSN
     */
    public static Lsn parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 1 || slash > 8 || text.length() - slash - 1 < 1 || text.length() - slash - 1 > 8) {
            throw invalid(text);
        }
        for (int i = 0; i < text.length(); i++) {
            if (i != slash && !HexFormat.isHexDigit(text.charAt(i))) {
                throw invalid(text);
            }
        }
        long high = Long.parseLong(text, 0, slash, 16);
        long low = Long.parseLong(text, slash + 1, text.length(), 16);
        return new Lsn(high << 32 | low);
    }

    private static IllegalArgumentException invalid(String text) {
        return new IllegalArgumentException(
                "invalid LSN \"" + text + "\": expected two hexadecimal numbers, as in 16/B374D848");
    }

    @Override
    public int compareTo(Lsn other) {
        return Long.compareUnsigned(value, other.value);
    }

    public boolean isAfter(Lsn other) {
        return compareTo(other) > 0;
    }

    public boolean isBefore(Lsn other) {
        return compareTo(other) < 0;
    }

    public Lsn max(Lsn other) {
        return isBefore(other) ? other : this;
    }

    /** How many bytes of WAL lie between an earlier position and this one; negative if {@code earlier} is later. */
    public long bytesSince(Lsn earlier) {
        return value - earlier.value;
    }

    @Override
    public String toString() {
        return hexadecimal(value >>> 32) + "/" + hexadecimal(value & 0xFFFFFFFFL);
    }

    /** Without a format to be parsed: each commit writes its position. */
    private static String hexadecimal(long half) {
        return Long.toHexString(half).toUpperCase(Locale.ROOT);
    }
}
