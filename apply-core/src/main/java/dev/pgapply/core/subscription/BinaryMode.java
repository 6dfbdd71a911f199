package dev.pgapply.core.subscription;

/** Whether the publisher is asked for values in binary form: the option {@code binary} (CREATE SUBSCRIPTION), and {@code auto}. */
public enum BinaryMode {
    /** In binary form exactly if every published column's type means the same bytes on both sides, else as text. */
    AUTO,
    /** Always; a column whose type is another on the target is an error, as in PostgreSQL. */
    TRUE,
    /** As text. */
    FALSE
}
