package dev.pgapply.core.pgoutput;

/** What a tuple says of one column (logicalproto.h, LOGICALREP_COLUMN_*). */
public enum ColumnStatus {
    /** SQL NULL; in a key tuple, for a column that is not of the key: not sent. */
    NULL,
    /** A TOASTed value that the change did not touch, and that is therefore not sent. */
    UNCHANGED,
    /** The value in its type's text form, in UTF-8. */
    TEXT,
    /** The value in its type's binary form (typsend). */
    BINARY
}
