package dev.pgapply.worker.jdbc;

import dev.pgapply.worker.jdbc.SetStatements.SqlText;
import java.util.List;
import java.util.StringJoiner;

/**
 * The statements for relations whose rows are found by all published columns: one hashed pass over the table for a whole set. Rows that
 * are equal are numbered on both sides, so that each wanted row takes one row of the table and duplicates pair one to one. Rows are
 * touched by ctid; one that changed meanwhile has another and is reported missing. Pure: text and parameters.
 */
final class FullRowStatements {

    private FullRowStatements() {}

    static SqlText update(BoundRelation relation, String rowType, List<ColumnArray> key, List<ColumnArray> values) {
        StringJoiner carried = new StringJoiner("");
        StringJoiner assignments = new StringJoiner(", ");
        for (int i = 0; i < values.size(); i++) {
            carried.add(", w.v" + i);
            assignments.add(
                    values.get(i).column().quoted() + " = " + values.get(i).value("p.v" + i));
        }
        String change = "UPDATE " + relation.target() + " AS t SET " + assignments
                + " FROM p WHERE t.ctid = p.c AND t.tableoid = p.o RETURNING p.n";
        return statement(relation, rowType, key, values, carried.toString(), change);
    }

    static SqlText delete(BoundRelation relation, String rowType, List<ColumnArray> key) {
        String change = "DELETE FROM " + relation.target()
                + " AS t USING p WHERE t.ctid = p.c AND t.tableoid = p.o RETURNING p.n";
        return statement(relation, rowType, key, List.of(), "", change);
    }

    private static SqlText statement(
            BoundRelation relation,
            String rowType,
            List<ColumnArray> key,
            List<ColumnArray> values,
            String carried,
            String change) {
        StringJoiner wanted = new StringJoiner(", ", "ROW(", ")::" + rowType);
        StringJoiner present = new StringJoiner(", ", "ROW(", ")::" + rowType);
        for (int i = 0; i < key.size(); i++) {
            wanted.add(key.get(i).value("u.k" + i));
            present.add("s." + key.get(i).column().quoted());
        }
        String sql = "WITH w AS MATERIALIZED (SELECT u.*, row_number() OVER (PARTITION BY u.r ORDER BY u.n) AS d"
                + " FROM (SELECT " + wanted + " AS r, u.* FROM " + SetStatements.unnest(key, values) + ") AS u),"
                + " f AS MATERIALIZED (SELECT f.*, row_number() OVER (PARTITION BY f.r) AS d"
                + " FROM (SELECT " + present + " AS r, s.ctid AS c, s.tableoid AS o FROM " + relation.target()
                + " AS s) AS f WHERE f.r IN (SELECT w.r FROM w)),"
                + " p AS MATERIALIZED (SELECT w.n, f.c, f.o" + carried + " FROM w JOIN f ON f.r = w.r AND f.d = w.d),"
                + " x AS (" + change + ")"
                + " SELECT w.n FROM w EXCEPT SELECT x.n FROM x LIMIT " + SetStatements.MAX_MISSING;
        return new SqlText(sql, SetStatements.parameters(key, values));
    }
}
