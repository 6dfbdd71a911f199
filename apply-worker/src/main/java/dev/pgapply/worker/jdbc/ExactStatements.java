package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.SearchKey;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetColumn.IdentityKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The statement that executes one change with PostgreSQL's semantics: values are parameters of no declared type, so that the target's
 * own input function reads them with the column's modifier; UPDATE sets every column that was sent (SEMANTICS S-6, S-14); exactly one
 * row is found or none. Pure: text and values, no connection.
 */
final class ExactStatements {

    /** The value of a row's column, for one question mark. */
    record Value(BoundColumn column, Tuple row) {}

    record Exact(String sql, List<Value> values) {}

    private ExactStatements() {}

    static Exact insert(BoundRelation relation, Tuple row) {
        StringJoiner names = new StringJoiner(", ");
        StringJoiner marks = new StringJoiner(", ");
        List<Value> values = new ArrayList<>();
        for (BoundColumn column : relation.columns()) {
            requireSent(relation, column, row, "INSERT");
            names.add(column.quoted());
            marks.add("?");
            values.add(new Value(column, row));
        }
        String sql = values.isEmpty()
                ? "INSERT INTO " + relation.table() + " DEFAULT VALUES"
                : "INSERT INTO " + relation.table() + " (" + names + ") OVERRIDING SYSTEM VALUE VALUES (" + marks + ")";
        return new Exact(sql, values);
    }

    /**
     * A column that is GENERATED ALWAYS AS IDENTITY cannot be set: it is left out, which is right if its value did not change.
     *
     * @param guarded whether the row is to be found only if these columns have the new values already
     */
    static Exact update(BoundRelation relation, @Nullable String rowType, Change change, boolean guarded) {
        Tuple search = search(change);
        Tuple row = Objects.requireNonNull(change.newTuple());
        StringJoiner assignments = new StringJoiner(", ");
        StringBuilder guards = new StringBuilder();
        List<Value> values = new ArrayList<>();
        List<Value> guardValues = new ArrayList<>();
        for (BoundColumn column : relation.columns()) {
            if (row.isUnchanged(column.remote())) {
                continue;
            }
            if (!column.alwaysIdentity()) {
                assignments.add(column.quoted() + " = ?");
                values.add(new Value(column, row));
            } else if (guarded) {
                guards.append(" AND t.")
                        .append(column.quoted())
                        .append(" IS NOT DISTINCT FROM ?::")
                        .append(column.facts().castName());
                guardValues.add(new Value(column, row));
            }
        }
        if (values.isEmpty()) {
            TargetColumn any = anySettable(relation);
            if (any == null) {
                return locked(relation, rowType, search, guards.toString(), guardValues);
            }
            String name = Identifiers.quote(any.name());
            assignments.add(name + " = t." + name);
        }
        Condition found = find(relation, rowType, search);
        String sql = "UPDATE " + relation.target() + " AS t SET " + assignments
                + (found.from().isEmpty() ? "" : " FROM " + found.from()) + " WHERE " + found.where() + guards;
        values.addAll(found.values());
        values.addAll(guardValues);
        return new Exact(sql, values);
    }

    /** Nothing can be set: the row is locked, as an update would. */
    private static Exact locked(
            BoundRelation relation, @Nullable String rowType, Tuple search, String guards, List<Value> guardValues) {
        Condition found = find(relation, rowType, search);
        List<Value> values = new ArrayList<>(found.values());
        values.addAll(guardValues);
        String from = found.from().isEmpty() ? "" : ", " + found.from();
        return new Exact(
                "WITH l AS (SELECT 1 FROM " + relation.target() + " AS t" + from + " WHERE " + found.where() + guards
                        + " FOR UPDATE OF t) SELECT count(*) FROM l",
                values);
    }

    static Exact delete(BoundRelation relation, @Nullable String rowType, Tuple search) {
        Condition found = find(relation, rowType, search);
        String using = found.from().isEmpty() ? "" : " USING " + found.from();
        return new Exact(
                "DELETE FROM " + relation.target() + " AS t" + using + " WHERE " + found.where(), found.values());
    }

    /**
     * Replaces a row whose GENERATED ALWAYS identity changed, which UPDATE refuses: deletes it and inserts it with its new values and
     * with what it had in all other columns (SEMANTICS S-16).
     */
    static Exact replace(BoundRelation relation, @Nullable String rowType, Change change) {
        Tuple row = Objects.requireNonNull(change.newTuple());
        Exact delete = delete(relation, rowType, search(change));
        List<Value> values = new ArrayList<>(delete.values());
        StringJoiner names = new StringJoiner(", ");
        StringJoiner sources = new StringJoiner(", ");
        for (TargetColumn local : relation.entry().target().columns()) {
            if (local.generated()) {
                continue;
            }
            String name = Identifiers.quote(local.name());
            names.add(name);
            BoundColumn sent = sentColumn(relation, local, row);
            if (sent == null) {
                sources.add("d." + name);
            } else {
                sources.add("?::" + sent.facts().castName());
                values.add(new Value(sent, row));
            }
        }
        String sql = "WITH d AS (" + delete.sql() + " RETURNING t.*) INSERT INTO " + relation.table() + " (" + names
                + ") OVERRIDING SYSTEM VALUE SELECT " + sources + " FROM d";
        return new Exact(sql, values);
    }

    /** Whether a row that the change searches for is there. */
    static Exact present(BoundRelation relation, @Nullable String rowType, Change change) {
        Condition found = find(relation, rowType, search(change));
        String from = found.from().isEmpty() ? "" : ", " + found.from();
        return new Exact(
                "SELECT count(*) FROM " + relation.target() + " AS t" + from + " WHERE " + found.where(),
                found.values());
    }

    /** What is known of a GENERATED ALWAYS identity that the change sends. */
    enum IdentityChange {
        NONE,
        UNKNOWN,
        CHANGED
    }

    static IdentityChange identityChange(BoundRelation relation, Change change) {
        Tuple row = Objects.requireNonNull(change.newTuple());
        Tuple oldTuple = change.oldTuple();
        IdentityChange known = IdentityChange.NONE;
        for (BoundColumn column : relation.columns()) {
            int remote = column.remote();
            if (!column.alwaysIdentity() || row.isUnchanged(remote)) {
                continue;
            }
            if (oldTuple != null && oldTuple.hasValue(remote)) {
                if (!oldTuple.sameBytes(remote, row, remote)) {
                    return IdentityChange.CHANGED;
                }
            } else if (oldTuple != null
                    || !relation.entry().remote().columns().get(remote).key()) {
                known = IdentityChange.UNKNOWN;
            }
        }
        return known;
    }

    private static @Nullable BoundColumn sentColumn(BoundRelation relation, TargetColumn local, Tuple row) {
        for (BoundColumn column : relation.columns()) {
            if (column.local().equals(local) && !row.isUnchanged(column.remote())) {
                return column;
            }
        }
        return null;
    }

    private static @Nullable TargetColumn anySettable(BoundRelation relation) {
        for (TargetColumn column : relation.entry().target().columns()) {
            if (!column.generated() && column.identity() != IdentityKind.ALWAYS) {
                return column;
            }
        }
        return null;
    }

    private static Tuple search(Change change) {
        return Objects.requireNonNull(change.searchTuple());
    }

    /** @param from what stands beside the table t, or empty */
    private record Condition(String from, String where, List<Value> values) {}

    private static Condition find(BoundRelation relation, @Nullable String rowType, Tuple search) {
        for (BoundColumn column : relation.key()) {
            requireSent(relation, column, search, "search for a row");
        }
        return relation.entry().key().kind() == SearchKey.Kind.FULL_ROW
                ? findWholeRow(relation, Objects.requireNonNull(rowType), search)
                : findByKey(relation, search);
    }

    private static Condition findByKey(BoundRelation relation, Tuple search) {
        StringJoiner conditions = new StringJoiner(" AND ");
        List<Value> values = new ArrayList<>();
        for (BoundColumn column : relation.key()) {
            conditions.add("t." + column.quoted() + " " + column.facts().equality() + " ?::"
                    + column.facts().castName());
            values.add(new Value(column, search));
        }
        return new Condition("", conditions.toString(), values);
    }

    /**
     * One row out of those that are equal (execReplication.c, RelationFindReplTupleSeq). Columns whose equality is that of their bytes
     * are compared by themselves too: that is quicker, and an index on one of them can be used.
     */
    private static Condition findWholeRow(BoundRelation relation, String rowType, Tuple search) {
        StringBuilder conditions = new StringBuilder();
        StringJoiner present = new StringJoiner(", ", "ROW(", ")::" + rowType);
        StringJoiner wanted = new StringJoiner(", ", "ROW(", ")::" + rowType);
        List<Value> values = new ArrayList<>();
        for (BoundColumn column : relation.key()) {
            if (column.local().byteEquality() && search.hasValue(column.remote())) {
                conditions
                        .append("s.")
                        .append(column.quoted())
                        .append(" = ?::")
                        .append(column.facts().castName())
                        .append(" AND ");
                values.add(new Value(column, search));
            }
        }
        for (BoundColumn column : relation.key()) {
            present.add("s." + column.quoted());
            wanted.add("?::" + column.facts().castName());
            values.add(new Value(column, search));
        }
        String from = "(SELECT s.ctid AS c, s.tableoid AS o FROM " + relation.target() + " AS s WHERE " + conditions
                + present + " = " + wanted + " LIMIT 1 FOR UPDATE) AS f";
        return new Condition(from, "t.ctid = f.c AND t.tableoid = f.o", values);
    }

    private static void requireSent(BoundRelation relation, BoundColumn column, Tuple row, String action) {
        if (row.isUnchanged(column.remote())) {
            throw ApplyException.withHint(
                    Kind.DATA,
                    "cannot " + action + " on \"" + relation.entry().target().name()
                            + "\": the publisher did not send column \""
                            + column.local().name() + "\", an unchanged TOASTed value",
                    "a row filter that turns an UPDATE into an INSERT does this; with REPLICA IDENTITY FULL on the publisher the"
                            + " value is sent");
        }
    }
}
