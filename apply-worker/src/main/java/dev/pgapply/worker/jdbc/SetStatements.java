package dev.pgapply.worker.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/**
 * The statements that execute a set of rows at once: the columns come as arrays, which the server unnests to rows with their ordinal
 * number, and each row is found by the target's identity. Updates and deletes return the ordinals of rows that were not found.
 *
 * <p>An element is cast to the column's type without modifier, because an explicit cast to varchar(3) would truncate in silence; the
 * assignment behind it then checks as the type's input function does. Pure: text and parameters, no connection.
 */
final class SetStatements {

    /**
     * How many missing rows a statement reports. The driver sends all statements of a message before it reads, so that answers must fit
     * the socket's buffers; a set that misses more than these is replayed exactly.
     */
    static final int MAX_MISSING = 1_000;

    /** A statement's text with its parameters. */
    record SqlText(String sql, List<Object> parameters) {}

    private SetStatements() {}

    static SqlText insert(BoundRelation relation, List<ColumnArray> values) {
        StringJoiner names = new StringJoiner(", ");
        StringJoiner elements = new StringJoiner(", ");
        for (int i = 0; i < values.size(); i++) {
            names.add(values.get(i).column().quoted());
            elements.add(values.get(i).value("u.v" + i));
        }
        String sql = "INSERT INTO " + relation.table() + " (" + names + ") OVERRIDING SYSTEM VALUE SELECT " + elements
                + " FROM " + unnest(List.of(), values);
        return new SqlText(sql, parameters(List.of(), values));
    }

    static SqlText update(BoundRelation relation, List<ColumnArray> key, List<ColumnArray> values) {
        StringJoiner assignments = new StringJoiner(", ");
        for (int i = 0; i < values.size(); i++) {
            assignments.add(
                    values.get(i).column().quoted() + " = " + values.get(i).value("u.v" + i));
        }
        String sql = "UPDATE " + relation.target() + " AS t SET " + assignments + " FROM " + unnest(key, values)
                + " WHERE " + matches(key) + " RETURNING u.n";
        return reportingMissing(sql, key, values);
    }

    static SqlText delete(BoundRelation relation, List<ColumnArray> key) {
        String sql = "DELETE FROM " + relation.target() + " AS t USING " + unnest(key, List.of()) + " WHERE "
                + matches(key) + " RETURNING u.n";
        return reportingMissing(sql, key, List.of());
    }

    /** Locks the rows and changes nothing: for an update that sets nothing that can be set. */
    static SqlText lock(BoundRelation relation, List<ColumnArray> key) {
        String sql = "SELECT u.n FROM " + relation.target() + " AS t, " + unnest(key, List.of()) + " WHERE "
                + matches(key) + " FOR UPDATE OF t";
        return reportingMissing(sql, key, List.of());
    }

    /** Returns a row if any of the keys is there. */
    static SqlText anyPresent(BoundRelation relation, List<ColumnArray> key) {
        String sql = "SELECT u.n FROM " + relation.target() + " AS t, " + unnest(key, List.of()) + " WHERE "
                + matches(key) + " LIMIT 1";
        return new SqlText(sql, parameters(key, List.of()));
    }

    /** EXCEPT is hashed, whatever the planner's settings; an anti-join would be a nested loop under the session's. */
    private static SqlText reportingMissing(String found, List<ColumnArray> key, List<ColumnArray> values) {
        List<Object> parameters = parameters(key, values);
        parameters.add((long) key.get(0).rows().size());
        String sql = "WITH x AS (" + found + ") SELECT g.n FROM generate_series(1::bigint, ?) AS g(n)"
                + " EXCEPT SELECT x.n FROM x LIMIT " + MAX_MISSING;
        return new SqlText(sql, parameters);
    }

    /** The arrays as a table u with columns k0…, v0… and the ordinal n. */
    static String unnest(List<ColumnArray> key, List<ColumnArray> values) {
        StringJoiner marks = new StringJoiner(", ");
        StringJoiner names = new StringJoiner(", ");
        for (int i = 0; i < key.size(); i++) {
            marks.add("?");
            names.add("k" + i);
        }
        for (int i = 0; i < values.size(); i++) {
            marks.add("?");
            names.add("v" + i);
        }
        return "unnest(" + marks + ") WITH ORDINALITY AS u(" + names + ", n)";
    }

    static List<Object> parameters(List<ColumnArray> key, List<ColumnArray> values) {
        List<Object> parameters = new ArrayList<>(key.size() + values.size() + 1);
        for (ColumnArray column : key) {
            parameters.add(column.parameter());
        }
        for (ColumnArray column : values) {
            parameters.add(column.parameter());
        }
        return parameters;
    }

    private static String matches(List<ColumnArray> key) {
        StringJoiner conditions = new StringJoiner(" AND ");
        for (int i = 0; i < key.size(); i++) {
            BoundColumn column = key.get(i).column();
            conditions.add("t." + column.quoted() + " " + column.facts().equality() + " "
                    + key.get(i).value("u.k" + i));
        }
        return conditions.toString();
    }
}
