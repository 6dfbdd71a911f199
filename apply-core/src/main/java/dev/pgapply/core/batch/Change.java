package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import org.jspecify.annotations.Nullable;

/**
 * One row's change, with the relation as it was in force when it came.
 *
 * @param oldTuple the old row or its key where the publisher sent one, else null
 * @param newTuple the new row; null for DELETE
 */
public record Change(
        Kind kind,
        RelationMapEntry relation,
        @Nullable Tuple oldTuple,
        @Nullable Tuple newTuple) implements Step {

    /** What happened to the row. */
    public enum Kind {
        INSERT,
        UPDATE,
        DELETE
    }

    /** The tuple that finds the row: the old one if sent, else the new one (worker.c, apply_handle_update). Null for INSERT. */
    public @Nullable Tuple searchTuple() {
        if (kind == Kind.INSERT) {
            return null;
        }
        return oldTuple != null ? oldTuple : newTuple;
    }
}
