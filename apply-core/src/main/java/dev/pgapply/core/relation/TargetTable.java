package dev.pgapply.core.relation;

import dev.pgapply.core.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A table as the target's catalog described it at one moment. Immutable; an unchanged table describes itself by an equal record.
 *
 * @param columns all columns but dropped ones, in attnum order
 * @param identity names of the columns of the replica identity index, else of the primary key if it is not deferrable, else null
 *     (execReplication.c: the only indexes that find exactly one row)
 * @param uniqueKeys columns of each other unique index that is neither partial, deferrable nor on an expression; some may be nullable
 * @param triggers what would fire in the session's role
 */
public record TargetTable(
        QualifiedName name,
        Kind kind,
        List<TargetColumn> columns,
        @Nullable List<String> identity,
        List<List<String>> uniqueKeys,
        boolean rowSecurity,
        Triggers triggers) {

    /** Kinds of relation that a change can or cannot be applied to (pg_class.relkind). */
    public enum Kind {
        PLAIN,
        PARTITIONED,
        /** Anything else: a view, a foreign table … */
        OTHER
    }

    /**
     * Triggers and rules that fire for the session's actual role, on the table or a partition of it.
     *
     * @param row names of row triggers (with foreign-key actions) that fire
     * @param statement names of statement triggers and rules that would fire here but never in PostgreSQL's own apply worker
     */
    public record Triggers(List<String> row, List<String> statement) {
        public static final Triggers NONE = new Triggers(List.of(), List.of());

        public Triggers {
            row = List.copyOf(row);
            statement = List.copyOf(statement);
        }

        /** Whether the order and number of single changes is visible to something on the target. */
        public boolean any() {
            return !row.isEmpty() || !statement.isEmpty();
        }
    }

    public TargetTable {
        columns = List.copyOf(columns);
        identity = identity == null ? null : List.copyOf(identity);
        uniqueKeys = uniqueKeys.stream().map(List::copyOf).toList();
    }

    /** The column of that name, or null. Names match exactly, as in PostgreSQL. */
    public @Nullable TargetColumn column(String name) {
        for (TargetColumn column : columns) {
            if (column.name().equals(name)) {
                return column;
            }
        }
        return null;
    }
}
