package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import java.util.ArrayList;
import java.util.List;

/**
 * A relation with all that its statements need. Immutable; bound once for each {@link RelationMapEntry} in each session.
 *
 * @param table the table's quoted name
 * @param target how UPDATE and DELETE name it: ONLY it, so that inheriting tables are not reached (SEMANTICS 1.7, 12)
 * @param columns the remote columns that are applied, in the publisher's order
 * @param key the columns that find a row
 * @param variant tells apart statements of the same text that were prepared for other types
 */
record BoundRelation(
        RelationMapEntry entry,
        String table,
        String target,
        List<BoundColumn> columns,
        List<BoundColumn> key,
        String variant) {

    static BoundRelation bind(RelationMapEntry entry, TypeCatalog types) {
        TargetTable table = entry.target();
        refuseStatementTriggers(table);
        List<Oid> oids = new ArrayList<>();
        for (TargetColumn column : table.columns()) {
            oids.add(column.type());
        }
        types.load(oids);
        List<BoundColumn> columns = new ArrayList<>();
        List<BoundColumn> key = new ArrayList<>();
        for (int remote : entry.mappedColumns()) {
            TargetColumn local = entry.localColumn(remote);
            if (local == null) {
                continue;
            }
            TypeFacts facts = types.facts(local.type());
            if (facts == null) {
                throw new ApplyException(
                        Kind.SCHEMA_MISMATCH,
                        "the type of column \"" + local.name() + "\" of \"" + table.name()
                                + "\" no longer exists on the target");
            }
            BoundColumn bound =
                    new BoundColumn(remote, entry.remote().columns().get(remote).type(), local, facts);
            columns.add(bound);
            if (entry.key().remoteColumns().contains(remote)) {
                key.add(bound);
            }
        }
        String name = Identifiers.quote(table.name());
        boolean plain = table.kind() == TargetTable.Kind.PLAIN;
        return new BoundRelation(
                entry, name, plain ? "ONLY " + name : name, List.copyOf(columns), List.copyOf(key), variant(columns));
    }

    /** PostgreSQL's apply worker runs no executor statement, so that these never fire there (SEMANTICS S-15). */
    private static void refuseStatementTriggers(TargetTable table) {
        List<String> firing = table.triggers().statement();
        if (firing.isEmpty()) {
            return;
        }
        throw ApplyException.withHint(
                Kind.SCHEMA_MISMATCH,
                "statement trigger or rule " + Identifiers.list(firing) + " on \"" + table.name()
                        + "\" would fire for applied changes, which it does not under PostgreSQL's own subscription",
                "ALTER TABLE " + Identifiers.quote(table.name()) + " DISABLE TRIGGER "
                        + Identifiers.quote(firing.get(0)) + " (or DISABLE RULE)");
    }

    private static String variant(List<BoundColumn> columns) {
        StringBuilder types = new StringBuilder();
        for (BoundColumn column : columns) {
            types.append(column.local().type()).append(' ');
        }
        return types.toString();
    }

    boolean firesRowTriggers() {
        return !entry.target().triggers().row().isEmpty();
    }

    boolean isKey(BoundColumn column) {
        return key.contains(column);
    }

    /** The bound column of a remote column's number. */
    BoundColumn column(int remote) {
        for (BoundColumn column : columns) {
            if (column.remote() == remote) {
                return column;
            }
        }
        throw new IllegalArgumentException("remote column " + remote + " of " + table + " is not applied");
    }
}
