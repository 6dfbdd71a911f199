package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;

/**
 * Some columns of a tuple, equal to another's where the same bytes were sent. Refers to the tuple's bytes and copies nothing; the hash
 * is computed once.
 */
final class RowKey {

    private final Tuple tuple;
    private final int[] columns;
    private final int hash;

    /** @param columns shared by all keys that are ever compared with this one */
    RowKey(Tuple tuple, int[] columns) {
        this.tuple = tuple;
        this.columns = columns;
        int combined = 1;
        for (int column : columns) {
            combined = 31 * combined + tuple.hashOf(column);
        }
        this.hash = combined;
    }

    /** Whether a column is NULL, which equals nothing under a unique index. */
    boolean hasNull() {
        for (int column : columns) {
            if (tuple.isNull(column)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean equals(Object object) {
        if (this == object) {
            return true;
        }
        if (!(object instanceof RowKey other) || hash != other.hash) {
            return false;
        }
        for (int column : columns) {
            if (!tuple.sameBytes(column, other.tuple, column)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
