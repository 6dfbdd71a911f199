package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.util.List;

/**
 * A table as the subscription's publications send it, taken together (tablesync.c, fetch_remote_table_info).
 *
 * @param partitioned whether it is a partitioned table, published by its root
 * @param columns those sent, in attnum order: the column list if there is one, no generated columns unless the publication says so
 * @param rowFilters conditions as SQL with qualified names, of which a row must meet one; empty: all rows
 * @param updates whether any of the publications sends updates
 * @param deletes whether any of the publications sends deletes
 * @param truncates whether any of the publications sends truncations
 * @param rowsEstimated the planner's estimate, -1 if there is none
 */
public record PublishedTable(
        Oid oid,
        QualifiedName name,
        boolean partitioned,
        ReplicaIdentity replicaIdentity,
        List<PublishedColumn> columns,
        List<String> rowFilters,
        boolean updates,
        boolean deletes,
        boolean truncates,
        long rowsEstimated,
        long bytesEstimated) {

    public PublishedTable {
        columns = List.copyOf(columns);
        rowFilters = List.copyOf(rowFilters);
    }

    /** The Relation message that the publisher will send for it. */
    public Relation toRelation() {
        List<Relation.Column> sent = columns.stream()
                .map(column -> new Relation.Column(column.name(), column.key(), column.type(), column.typeModifier()))
                .toList();
        return new Relation(null, oid, name, replicaIdentity, sent);
    }

    /**
     * Whether the publisher itself refuses UPDATE and DELETE, because nothing would identify the rows (execReplication.c,
     * CheckCmdReplicaIdentity): such a table is fine for as long as rows are only added.
     */
    public boolean isInsertOnly() {
        return replicaIdentity != ReplicaIdentity.FULL && columns.stream().noneMatch(PublishedColumn::key);
    }

    /** The same without estimates: two of these are equal if the table is published in the same way. */
    public PublishedTable withoutEstimates() {
        return new PublishedTable(
                oid, name, partitioned, replicaIdentity, columns, rowFilters, updates, deletes, truncates, 0, 0);
    }
}
