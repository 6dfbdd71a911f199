package dev.pgapply.worker.schema;

import java.util.List;

/**
 * An index of a published table that belongs to no constraint (pg_index).
 *
 * @param tail what follows the table's name in pg_get_indexdef, from USING on
 * @param columns those of the table that it reads
 * @param oldestMajor the first version that knows its clauses
 */
public record IndexDefinition(
        String name,
        boolean unique,
        String tail,
        List<String> columns,
        boolean replicaIdentity,
        int oldestMajor,
        List<ObjectIdentity> needs) {

    public IndexDefinition {
        columns = List.copyOf(columns);
        needs = List.copyOf(needs);
    }
}
