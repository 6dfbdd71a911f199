package dev.pgapply.worker.schema;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A table of the publisher, with all that can be created of it. Names are the catalog's.
 *
 * @param parents the table it is a partition of, or those it inherits from
 * @param partitionKey as pg_get_partkeydef writes it; null for a table that is not partitioned
 * @param parentPartitionKey that of the table it is a partition of, else null
 * @param partitionBound {@code FOR VALUES …} or {@code DEFAULT}; null for a table that is no partition
 * @param options storage parameters, as {@code name=value}
 * @param partitionKeyNeeds what the partition key needs
 */
public record TableDefinition(
        Oid oid,
        QualifiedName name,
        List<QualifiedName> parents,
        @Nullable String partitionKey,
        @Nullable String parentPartitionKey,
        @Nullable String partitionBound,
        ReplicaIdentity replicaIdentity,
        List<String> options,
        List<ObjectIdentity> partitionKeyNeeds,
        List<ColumnDefinition> columns,
        List<ConstraintDefinition> constraints,
        List<IndexDefinition> indexes) {

    public TableDefinition {
        parents = List.copyOf(parents);
        options = List.copyOf(options);
        partitionKeyNeeds = List.copyOf(partitionKeyNeeds);
        columns = List.copyOf(columns);
        constraints = List.copyOf(constraints);
        indexes = List.copyOf(indexes);
    }

    public boolean isPartition() {
        return partitionBound != null;
    }

    /**
     * The same with only these columns, those computed from nothing else, and what speaks of no other: the others would stay empty for
     * ever.
     */
    TableDefinition withColumns(Set<String> wanted) {
        Set<String> kept = new HashSet<>();
        for (ColumnDefinition column : columns) {
            if (wanted.contains(column.name())
                    || (column.isGenerated() && wanted.containsAll(column.expressionColumns()))) {
                kept.add(column.name());
            }
        }
        return new TableDefinition(
                oid,
                name,
                parents,
                partitionKey,
                parentPartitionKey,
                partitionBound,
                replicaIdentity,
                options,
                partitionKeyNeeds,
                columns.stream().filter(column -> kept.contains(column.name())).toList(),
                constraints.stream()
                        .filter(constraint -> kept.containsAll(constraint.columns()))
                        .toList(),
                indexes.stream()
                        .filter(index -> kept.containsAll(index.columns()))
                        .toList());
    }
}
