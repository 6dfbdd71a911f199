package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A constraint of a published table (pg_constraint).
 *
 * @param definition as pg_get_constraintdef writes it, names qualified
 * @param columns those of the table that it speaks of
 * @param validated whether all rows are known to meet it
 * @param replicaIdentity whether its index is the replica identity
 * @param referenced the table that a foreign key points to, else null
 * @param oldestMajor the first version that knows its clauses
 */
public record ConstraintDefinition(
        String name,
        Kind kind,
        String definition,
        List<String> columns,
        boolean validated,
        boolean replicaIdentity,
        @Nullable QualifiedName referenced,
        int oldestMajor,
        List<ObjectIdentity> needs) {

    /** contype. */
    public enum Kind {
        CHECK("check constraint"),
        PRIMARY_KEY("primary key"),
        UNIQUE("unique constraint"),
        EXCLUSION("exclusion constraint"),
        FOREIGN_KEY("foreign key"),
        /** One that does not hold for all rows, so that it cannot be a column's own (PostgreSQL 18). */
        NOT_NULL("not-null constraint");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    public ConstraintDefinition {
        columns = List.copyOf(columns);
        needs = List.copyOf(needs);
    }

    /** Whether it lives by an index of its name. */
    boolean isIndexed() {
        return kind == Kind.PRIMARY_KEY || kind == Kind.UNIQUE || kind == Kind.EXCLUSION;
    }

    /** Whether rows are to be found by it, or the table's partitions are to agree with it: it is there before the first row. */
    boolean isEarly() {
        return kind == Kind.PRIMARY_KEY || replicaIdentity || (kind == Kind.CHECK && validated);
    }
}
