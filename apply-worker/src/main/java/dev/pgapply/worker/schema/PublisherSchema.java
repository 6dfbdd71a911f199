package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tables to be created with the types and sequences that they use, as the publisher's catalogs have them.
 *
 * @param types all of the publisher's users' own, in any order
 */
public record PublisherSchema(
        List<TableDefinition> tables, List<TypeDefinition> types, List<SequenceDefinition> sequences) {

    public PublisherSchema {
        tables = List.copyOf(tables);
        types = List.copyOf(types);
        sequences = List.copyOf(sequences);
    }

    /** Everything that a table or type needs, with repetitions. */
    public List<ObjectIdentity> needs() {
        List<ObjectIdentity> needs = new ArrayList<>();
        types.forEach(type -> {
            needs.add(type.identity());
            needs.addAll(type.needs());
        });
        for (TableDefinition table : tables) {
            needs.addAll(table.partitionKeyNeeds());
            table.columns().forEach(column -> {
                needs.addAll(column.typeNeeds());
                needs.addAll(column.expressionNeeds());
            });
            table.constraints().forEach(constraint -> needs.addAll(constraint.needs()));
            table.indexes().forEach(index -> needs.addAll(index.needs()));
        }
        return needs;
    }

    /** The same with only these columns of some tables, by the table's name. */
    public PublisherSchema withColumns(Map<QualifiedName, Set<String>> columns) {
        return new PublisherSchema(
                tables.stream()
                        .map(table -> {
                            Set<String> wanted = columns.get(table.name());
                            return wanted == null ? table : table.withColumns(wanted);
                        })
                        .toList(),
                types,
                sequences);
    }
}
