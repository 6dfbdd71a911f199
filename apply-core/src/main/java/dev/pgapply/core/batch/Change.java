package dev.pgapply.core.batch;

import dev.pgapply.core.ApplyException;
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

    /**
     * Checks that the tuples are those of the kind, and that they fit the relation.
     *
     * @throws ApplyException of kind PROTOCOL_VIOLATION if a tuple has another number of columns than the relation
     */
    public Change {
        boolean complete = switch (kind) {
            case INSERT -> newTuple != null && oldTuple == null;
            case UPDATE -> newTuple != null;
            case DELETE -> newTuple == null && oldTuple != null;
        };
        if (!complete) {
            throw new IllegalArgumentException("these tuples make no " + kind);
        }
        checkColumnCount(relation, oldTuple);
        checkColumnCount(relation, newTuple);
    }

    private static void checkColumnCount(RelationMapEntry relation, @Nullable Tuple tuple) {
        int columns = relation.remote().columns().size();
        if (tuple != null && tuple.columnCount() != columns) {
            throw new ApplyException(
                    ApplyException.Kind.PROTOCOL_VIOLATION,
                    "a tuple of " + tuple.columnCount() + " columns came for relation \""
                            + relation.remote().name() + "\", which has " + columns);
        }
    }

    /** The tuple that finds the row: the old one if sent, else the new one (worker.c, apply_handle_update). Null for INSERT. */
    public @Nullable Tuple searchTuple() {
        if (kind == Kind.INSERT) {
            return null;
        }
        return oldTuple != null ? oldTuple : newTuple;
    }
}
