package dev.pgapply.worker.jdbc;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Row types of exactly the published columns of a table, by which its rows are compared as wholes: record_eq treats NULL as equal to
 * NULL, takes each type's default equality and each column's collation, and can be hashed. These are PostgreSQL's own rules for
 * REPLICA IDENTITY FULL (execReplication.c, tuples_equal), which {@code IS NOT DISTINCT FROM} does not follow for types like box.
 *
 * <p>Each is the row type of an empty temporary table, made when first needed in the transaction that needs it. Owned by the session's
 * thread.
 */
final class RowTypes {

    private final Map<String, String> names = new HashMap<>();
    private final Set<String> uncommitted = new HashSet<>();
    private int made;

    /** The row type as SQL, and the statement that makes it; null if it is there. */
    record RowType(String name, @Nullable String create) {}

    RowType of(BoundRelation relation) {
        StringJoiner fields = new StringJoiner(", ");
        for (int i = 0; i < relation.key().size(); i++) {
            BoundColumn column = relation.key().get(i);
            // Without modifier: the cast of a row to this type must not cut a value to fit.
            fields.add("t." + column.quoted() + "::" + column.facts().castName() + " AS c" + i);
        }
        String definition = "AS SELECT " + fields + " FROM " + relation.target() + " AS t WITH NO DATA";
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

    void committed() {
        uncommitted.clear();
    }

    /** Those made in the transaction are gone with it. */
    void rolledBack() {
        names.keySet().removeAll(uncommitted);
        uncommitted.clear();
    }
}
