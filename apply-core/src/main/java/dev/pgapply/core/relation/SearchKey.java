package dev.pgapply.core.relation;

import java.util.List;

/**
 * How the row of an UPDATE or DELETE is found on the target (execReplication.c, FindReplTupleInLocalRel).
 *
 * @param kind by which columns
 * @param remoteColumns the remote columns compared, ascending; empty for NONE
 * @param byteEquality whether bytes decide equality of these columns: each is on the white list and of the same type on both sides.
 *     Only then may changes of one row be compacted by key.
 */
public record SearchKey(Kind kind, List<Integer> remoteColumns, boolean byteEquality) {

    /** Which columns identify a row. */
    public enum Kind {
        /** The target's replica identity or primary key, or a unique index that serves instead: at most one row. */
        UNIQUE,
        /** All published columns (REPLICA IDENTITY FULL, no key on the target): NULL equals NULL, one of equal rows is changed. */
        FULL_ROW,
        /** Nothing identifies a row: only inserts can be applied. */
        NONE
    }

    public SearchKey {
        remoteColumns = List.copyOf(remoteColumns);
    }
}
