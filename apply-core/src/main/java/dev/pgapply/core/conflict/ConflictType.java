package dev.pgapply.core.conflict;

import java.util.Locale;

/**
 * A conflict that applying a change may meet (conflict.h, ConflictType). The label is PostgreSQL's own lower-case word everywhere:
 * log, REST, metric.
 */
public enum ConflictType {
    INSERT_EXISTS,
    UPDATE_ORIGIN_DIFFERS,
    UPDATE_EXISTS,
    UPDATE_MISSING,
    DELETE_ORIGIN_DIFFERS,
    DELETE_MISSING,
    MULTIPLE_UNIQUE_CONFLICTS;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
