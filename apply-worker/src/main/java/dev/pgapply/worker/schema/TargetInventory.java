package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the target has already, of all that a creation asks for.
 *
 * @param role the session's
 * @param mayCreateSchemas whether the role has CREATE on the database
 * @param schemas those that exist, and whether the role may create in them
 * @param relations what is in pg_class
 * @param types names that are taken in pg_type, row types and arrays among them
 * @param constraints what is in pg_constraint for tables
 * @param objects keys of {@link ObjectIdentity}
 */
public record TargetInventory(
        int major,
        String role,
        boolean mayCreateSchemas,
        Map<String, Boolean> schemas,
        Map<QualifiedName, Relation> relations,
        Set<QualifiedName> types,
        Set<TableConstraint> constraints,
        Set<String> objects) {

    /**
     * A relation of the target.
     *
     * @param kind relkind
     * @param indexedTable the table of an index, else null
     * @param partitionKey of a partitioned table, else null
     */
    public record Relation(
            char kind,
            @Nullable QualifiedName indexedTable,
            @Nullable String partitionKey) {

        boolean isSequence() {
            return kind == 'S';
        }
    }

    /** Constraints have names within their table. */
    public record TableConstraint(QualifiedName table, String name) {}

    public TargetInventory {
        schemas = Map.copyOf(schemas);
        relations = Map.copyOf(relations);
        types = Set.copyOf(types);
        constraints = Set.copyOf(constraints);
        objects = Set.copyOf(objects);
    }
}
