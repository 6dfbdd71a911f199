package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.Tuple;
import org.postgresql.util.PGBinaryObject;
import org.postgresql.util.PGobject;

/** One value in its type's binary form (typsend), as it was received; never of length zero, which the driver would take for NULL. */
final class ValueParameter extends PGobject implements PGBinaryObject {

    private static final long serialVersionUID = 1L;

    private final transient Tuple row;
    private final int column;

    ValueParameter(String typeName, Tuple row, int column) {
        this.type = typeName;
        this.row = row;
        this.column = column;
    }

    @Override
    public void setByteValue(byte[] bytes, int offset) {
        throw new UnsupportedOperationException("a value parameter is only sent");
    }

    @Override
    public int lengthInBytes() {
        return row.valueLength(column);
    }

    @Override
    public void toBytes(byte[] bytes, int offset) {
        System.arraycopy(row.buffer(column), row.valueOffset(column), bytes, offset, row.valueLength(column));
    }
}
