package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.Identifiers;
import org.jspecify.annotations.Nullable;

/**
 * A sequence that a table to be created uses (pg_sequence). Its current value is no part of it.
 *
 * @param typeName smallint, integer or bigint
 * @param owner the table whose column owns it, null for none
 * @param ownerColumn the owner's column
 * @param identity whether it is an identity column's own, which comes and goes with the column
 */
public record SequenceDefinition(
        QualifiedName name,
        String typeName,
        long start,
        long increment,
        long min,
        long max,
        long cache,
        boolean cycle,
        @Nullable QualifiedName owner,
        @Nullable String ownerColumn,
        boolean identity) {

    String createStatement() {
        return "CREATE SEQUENCE " + Identifiers.quote(name) + " AS " + typeName + " " + options();
    }

    /** Null for a sequence that nobody owns. */
    @Nullable
    String ownedBy() {
        return owner == null || ownerColumn == null
                ? null
                : "ALTER SEQUENCE " + Identifiers.quote(name) + " OWNED BY " + Identifiers.quote(owner) + "."
                        + Identifiers.quote(ownerColumn);
    }

    /** What CREATE SEQUENCE and an identity column take; the latter has the type from its column. */
    String options() {
        return "START WITH " + start + " INCREMENT BY " + increment + " MINVALUE " + min + " MAXVALUE " + max
                + " CACHE " + cache + (cycle ? " CYCLE" : " NO CYCLE");
    }
}
