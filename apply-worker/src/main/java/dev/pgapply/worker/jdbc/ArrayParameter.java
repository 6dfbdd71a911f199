package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.Tuple;
import java.util.List;
import org.postgresql.util.ByteConverter;
import org.postgresql.util.PGBinaryObject;
import org.postgresql.util.PGobject;

/**
 * One column of many rows as a one-dimensional array in binary form (arrayfuncs.c, array_recv): int32 dimensions, flags, element
 * type, length, lower bound; then for each element its int32 length, or -1 for NULL, and its bytes. The bytes come straight from the
 * tuples; no string is made of them. Lives as long as the statement it is bound to.
 */
final class ArrayParameter extends PGobject implements PGBinaryObject {

    private static final long serialVersionUID = 1L;
    private static final int HEADER_LENGTH = 20;

    private final transient ElementType element;
    private final transient List<Tuple> rows;
    private final int column;

    ArrayParameter(ElementType element, List<Tuple> rows, int column) {
        this.element = element;
        this.rows = rows;
        this.column = column;
        this.type = element.arrayName();
    }

    @Override
    public void setByteValue(byte[] bytes, int offset) {
        throw new UnsupportedOperationException("an array parameter is only sent");
    }

    @Override
    public int lengthInBytes() {
        int length = HEADER_LENGTH;
        for (Tuple row : rows) {
            length = Math.addExact(length, 4 + elementLength(row));
        }
        return length;
    }

    private int elementLength(Tuple row) {
        if (!row.hasValue(column)) {
            return 0;
        }
        return switch (element.form()) {
            case RECEIVED -> row.valueLength(column);
            case INT2 -> 2;
            case INT4 -> 4;
            case INT8 -> 8;
        };
    }

    @Override
    public void toBytes(byte[] bytes, int offset) {
        boolean anyNull = false;
        int at = offset + HEADER_LENGTH;
        for (Tuple row : rows) {
            if (row.hasValue(column)) {
                int length = elementLength(row);
                ByteConverter.int4(bytes, at, length);
                at = write(row, bytes, at + 4) + length;
            } else {
                anyNull = true;
                ByteConverter.int4(bytes, at, -1);
                at += 4;
            }
        }
        ByteConverter.int4(bytes, offset, 1);
        ByteConverter.int4(bytes, offset + 4, anyNull ? 1 : 0);
        ByteConverter.int4(bytes, offset + 8, element.oid());
        ByteConverter.int4(bytes, offset + 12, rows.size());
        ByteConverter.int4(bytes, offset + 16, 1);
    }

    private int write(Tuple row, byte[] bytes, int at) {
        switch (element.form()) {
            case RECEIVED ->
                System.arraycopy(row.buffer(column), row.valueOffset(column), bytes, at, row.valueLength(column));
            case INT2 -> ByteConverter.int2(bytes, at, (int) DecimalText.parse(row, column));
            case INT4 -> ByteConverter.int4(bytes, at, (int) DecimalText.parse(row, column));
            case INT8 -> ByteConverter.int8(bytes, at, DecimalText.parse(row, column));
        }
        return at;
    }
}
