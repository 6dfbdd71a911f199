package dev.pgapply.worker.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of a published table (pg_attribute, pg_attrdef). Expressions and types are SQL text with qualified names.
 *
 * @param collation qualified and quoted, null for its type's own
 * @param notNull a constraint that holds for the rows that are there; null for none
 * @param expression the default's or the generated column's, null for none
 * @param storage PLAIN, EXTERNAL, EXTENDED or MAIN where it is not its type's own, else null
 * @param typeNeeds what its type and collation need
 * @param expressionNeeds what its expression needs
 * @param expressionColumns the columns of the table that its expression reads
 */
public record ColumnDefinition(
        String name,
        String typeName,
        @Nullable String collation,
        @Nullable NotNull notNull,
        @Nullable String expression,
        Generated generated,
        Identity identity,
        @Nullable String storage,
        List<ObjectIdentity> typeNeeds,
        List<ObjectIdentity> expressionNeeds,
        List<String> expressionColumns) {

    /** Whether and how the value is computed (attgenerated). */
    public enum Generated {
        NEVER,
        STORED,
        /** PostgreSQL 18. */
        VIRTUAL
    }

    /** attidentity. */
    public enum Identity {
        NONE,
        ALWAYS,
        BY_DEFAULT
    }

    /**
     * A NOT NULL.
     *
     * @param name the constraint's (PostgreSQL 18), null where it has none
     * @param noInherit PostgreSQL 18
     */
    public record NotNull(@Nullable String name, boolean noInherit) {}

    public ColumnDefinition {
        typeNeeds = List.copyOf(typeNeeds);
        expressionNeeds = List.copyOf(expressionNeeds);
        expressionColumns = List.copyOf(expressionColumns);
    }

    boolean isGenerated() {
        return generated != Generated.NEVER;
    }

    /** A plain default, which a table can do without. */
    boolean hasDefault() {
        return expression != null && !isGenerated();
    }
}
