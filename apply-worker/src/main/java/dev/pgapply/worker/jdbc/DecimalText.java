package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.pgoutput.Tuple;

/** Reads what int2out, int4out and int8out write: an optional minus sign and decimal digits. */
final class DecimalText {

    private DecimalText() {}

    static long parse(Tuple row, int column) {
        byte[] bytes = row.buffer(column);
        int at = row.valueOffset(column);
        int end = at + row.valueLength(column);
        boolean negative = at < end && bytes[at] == '-';
        if (negative) {
            at++;
        }
        if (at == end) {
            throw invalid(row, column);
        }
        long value = 0; // kept negative, so that the smallest int8 fits
        for (; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9) {
                throw invalid(row, column);
            }
            value = value * 10 - digit;
        }
        return negative ? value : -value;
    }

    private static ApplyException invalid(Tuple row, int column) {
        return new ApplyException(
                Kind.PROTOCOL_VIOLATION,
                "invalid integer \"" + row.text(column) + "\" in column number " + (column + 1));
    }
}
