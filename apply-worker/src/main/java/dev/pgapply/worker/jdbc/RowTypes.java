package dev.pgapply.worker.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Row types of exactly the published columns of a table, by which its rows are compared as wholes: record_eq treats NULL as equal to
 * NULL, takes each type's default equality and each column's collation, and can be hashed. These are PostgreSQL's own rules for
 * REPLICA IDENTITY FULL (execReplication.c, tuples_equal), which {@code IS NOT DISTINCT FROM} does not follow for types like box.
 *
 * <p>Each is the row type of an empty temporary table, made when first needed in the transaction that needs it. A transaction that is to
 * be prepared may not touch temporary tables (xact.c, PrepareTransaction): it makes ordinary ones and drops them before its end. Owned by
 * the session's thread.
 */
final class RowTypes {

    private final Map<String, String> names = new HashMap<>();
    private final Set<String> uncommitted = new HashSet<>();
    private final Map<String, String> preparedNames = new HashMap<>();
    private final List<String> toDrop = new ArrayList<>();
    private @Nullable String preparedPrefix;
    private int made;

    /** The row type as SQL, and the statement that makes it; null if it is there. */
    record RowType(String name, @Nullable String create) {}

    /** @param gid the transaction's that is begun next; its tables must not be named like another's, which may still hold the name */
    void preparing(String gid) {
        preparedPrefix = gid + "_row_";
    }

    /** The statements that remove what a transaction that is, or might have been, prepared has made; none for any other. */
    List<String> dropPrepared() {
        return toDrop.stream().map(name -> "DROP TABLE IF EXISTS " + name).toList();
    }

    RowType of(BoundRelation relation) {
        StringJoiner fields = new StringJoiner(", ");
        for (int i = 0; i < relation.key().size(); i++) {
            BoundColumn column = relation.key().get(i);
            // Without modifier: the cast of a row to this type must not cut a value to fit.
            fields.add("t." + column.quoted() + "::" + column.facts().castName() + " AS c" + i);
        }
        String definition = "AS SELECT " + fields + " FROM " + relation.target() + " AS t WITH NO DATA";
        String prefix = preparedPrefix;
        if (prefix != null) {
            return ofPrepared(definition, prefix);
        }
        String known = names.get(definition);
        if (known != null) {
            return new RowType(known, null);
        }
        made++;
        String name = "pg_temp.pgapply_row_" + made;
        names.put(definition, name);
        uncommitted.add(definition);
        return new RowType(name, "CREATE TEMPORARY TABLE " + name + " " + definition);
    }

    private RowType ofPrepared(String definition, String prefix) {
        String known = preparedNames.get(definition);
        if (known != null) {
            return new RowType(known, null);
        }
        made++;
        String name = "pgapply." + Identifiers.quote(prefix + made);
        preparedNames.put(definition, name);
        toDrop.add(name);
        return new RowType(name, "CREATE UNLOGGED TABLE " + name + " " + definition);
    }

    void committed() {
        uncommitted.clear();
        preparedPrefix = null;
        preparedNames.clear();
        toDrop.clear();
    }

    /** Those made in the transaction are gone with it. */
    void rolledBack() {
        rolledBackTo();
        preparedPrefix = null;
        toDrop.clear();
    }

    /** Those made since the savepoint are gone; which, is not told, so that all are made anew. */
    void rolledBackTo() {
        names.keySet().removeAll(uncommitted);
        uncommitted.clear();
        preparedNames.clear();
    }
}
