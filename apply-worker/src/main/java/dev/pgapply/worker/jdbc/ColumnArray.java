package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.ColumnStatus;
import dev.pgapply.core.pgoutput.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One column of many rows, ready to be a parameter, and the SQL expression that makes a value of the column from an element.
 *
 * @param element as what the values travel
 */
record ColumnArray(BoundColumn column, ElementType element, List<Tuple> rows) {

    private static final int INT2 = 21;
    private static final int INT4 = 23;
    private static final int INT8 = 20;

    /**
     * The column's values as an array, or null where no array can carry them: a cast from text would not be the type's input function,
     * or the values are in the binary form of a type (an array, a composite) that no array can be unnested to.
     */
    static @Nullable ColumnArray of(BoundColumn column, List<Tuple> rows, TypeCatalog types) {
        boolean text = false;
        boolean binary = false;
        for (Tuple row : rows) {
            ColumnStatus status = row.status(column.remote());
            text |= status == ColumnStatus.TEXT;
            binary |= status == ColumnStatus.BINARY;
        }
        ElementType element = binary ? ofBinary(column, text, types) : text ? ofText(column) : ElementType.TEXT;
        return element == null ? null : new ColumnArray(column, element, rows);
    }

    /** The arrays of several columns; null if one of them cannot be one. */
    static @Nullable List<ColumnArray> all(List<BoundColumn> columns, List<Tuple> rows, TypeCatalog types) {
        List<ColumnArray> arrays = new ArrayList<>(columns.size());
        for (BoundColumn column : columns) {
            ColumnArray array = of(column, rows, types);
            if (array == null) {
                return null;
            }
            arrays.add(array);
        }
        return arrays;
    }

    private static @Nullable ElementType ofText(BoundColumn column) {
        if (!column.facts().textIsInput()) {
            return null;
        }
        int type = column.local().type().value();
        if (type != column.remoteType().value()) {
            return ElementType.TEXT;
        }
        return switch (type) {
            case INT2 -> ElementType.INT2;
            case INT4 -> ElementType.INT4;
            case INT8 -> ElementType.INT8;
            default -> ElementType.TEXT;
        };
    }

    private static @Nullable ElementType ofBinary(BoundColumn column, boolean alsoText, TypeCatalog types) {
        TypeFacts sent = types.facts(column.binaryType());
        if (sent == null) {
            return null;
        }
        if (sent.sentAsText()) {
            return column.facts().textIsInput() ? ElementType.TEXT : null;
        }
        String array = sent.arrayName();
        if (alsoText || array == null) {
            return null;
        }
        types.registerBinary(array);
        boolean cast = sent.baseOid() != column.facts().baseOid();
        return new ElementType(array, sent.baseOid(), ElementType.Form.RECEIVED, cast);
    }

    ArrayParameter parameter() {
        return new ArrayParameter(element, rows, column.remote());
    }

    /** The element as a value of the column's type without modifier: the assignment then applies the modifier. */
    String value(String elementName) {
        return element.cast() ? elementName + "::" + column.facts().castName() : elementName;
    }
}
