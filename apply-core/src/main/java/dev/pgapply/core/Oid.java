package dev.pgapply.core;

/** PostgreSQL's object id, an unsigned 32-bit number. */
public record Oid(int value) {

    /** The first oid that initdb or a user hands out: below it, an oid means the same on every server (transam.h, FirstGenbkiObjectId). */
    private static final int FIRST_UNPINNED = 10_000;

    /** PostgreSQL's {@code InvalidOid}. */
    public static final Oid INVALID = new Oid(0);

    /** Whether the oid is fixed in PostgreSQL's source, so that it names the same object on publisher and target. */
    public boolean isBuiltIn() {
        return value > 0 && value < FIRST_UNPINNED;
    }

    @Override
    public String toString() {
        return Integer.toUnsignedString(value);
    }
}
