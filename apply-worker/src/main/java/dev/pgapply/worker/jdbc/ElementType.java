package dev.pgapply.worker.jdbc;

/**
 * As what the values of one column travel in an array parameter, and how SQL turns an element into a value of the column.
 *
 * @param arrayName the array type's name, as the driver looks it up
 * @param oid the element type's oid, as it stands in the array's header
 * @param form how an element's bytes are made of the received ones
 * @param cast whether an element is cast to the column's type; otherwise it is of that type, or assignment converts it
 */
record ElementType(String arrayName, int oid, Form form, boolean cast) {

    /** How an element's bytes are made of the received ones. */
    enum Form {
        /** As received: text for an array of text, the type's binary form for an array of that type. */
        RECEIVED,
        /** The received text is a decimal number, which becomes an int2, int4 or int8. */
        INT2,
        INT4,
        INT8
    }

    /** The received text, cast by the column type's input function. */
    static final ElementType TEXT = new ElementType("_text", 25, Form.RECEIVED, true);

    /**
     * Numbers of the same integer type on both sides: their text is always valid, and the server needs no input function for each.
     */
    static final ElementType INT2 = new ElementType("_int2", 21, Form.INT2, false);

    static final ElementType INT4 = new ElementType("_int4", 23, Form.INT4, false);
    static final ElementType INT8 = new ElementType("_int8", 20, Form.INT8, false);
}
