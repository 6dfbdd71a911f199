package dev.pgapply.it.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * CASES.md's SAME: whether publisher and target hold the same multiset of rows, each row as the text of its record. A digest decides;
 * only where it differs are the rows fetched to say how.
 */
public final class TableComparison {

    private static final int SHOWN = 10;
    private static final int FETCHED = 200_000;

    private final Database publisher;
    private final Database target;

    private TableComparison(Database publisher, Database target) {
        this.publisher = publisher;
        this.target = target;
    }

    public static TableComparison of(Database publisher, Database target) {
        return new TableComparison(publisher, target);
    }

    public static TableComparison of(DatabasePair pair) {
        return of(pair.publisher(), pair.target());
    }

    /** Fails with the rows that differ unless all the tables, named as in SQL, are the same on both sides. */
    public void assertSame(String... tables) {
        List<String> differences = new ArrayList<>();
        for (String table : tables) {
            String difference = difference("SELECT (t.*)::text FROM " + table + " t");
            if (!difference.isEmpty()) {
                differences.add("table " + table + " is not the same\n" + difference);
            }
        }
        fail(differences);
    }

    /** Fails unless all ordinary tables of the publisher outside of system schemas are the same on the target. */
    public void assertAllTablesSame() {
        assertSame(tables().toArray(String[]::new));
    }

    /** Fails unless the query gives the same multiset of rows on both sides; for tables with columns of their own on the target. */
    public void assertSameRows(String query) {
        String difference = difference("SELECT q::text FROM (" + query + ") q");
        fail(difference.isEmpty() ? List.of() : List.of(query + " does not give the same\n" + difference));
    }

    private static void fail(List<String> differences) {
        if (!differences.isEmpty()) {
            throw new AssertionError(String.join("\n", differences));
        }
    }

    /** All ordinary and partitioned tables of the publisher that are no partitions, quoted. */
    public List<String> tables() {
        return publisher.column("SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace n"
                + " ON n.oid = relnamespace WHERE relkind IN ('r', 'p') AND NOT relispartition"
                + " AND nspname NOT IN ('pg_catalog', 'information_schema', 'pgapply') AND relpersistence = 'p'"
                + " ORDER BY 1");
    }

    /** Whether one table is the same, for those who print it. */
    public boolean isSame(String table) {
        String rows = "SELECT (t.*)::text FROM " + table + " t";
        return digest(publisher, rows).equals(digest(target, rows));
    }

    /** How many rows a table has on the target. */
    public long targetRows(String table) {
        return target.number("SELECT count(*) FROM " + table);
    }

    private static List<List<String>> digest(Database database, String rows) {
        return List.of(database.column("SELECT count(*) || ' ' || coalesce(sum(hashtextextended(t, 0)::numeric), 0)"
                + " || ' ' || coalesce(sum(hashtextextended(t, 8263)::numeric), 0) FROM (" + rows + ") r(t)"));
    }

    private String difference(String rows) {
        List<List<String>> here = digest(publisher, rows);
        List<List<String>> there = digest(target, rows);
        return here.equals(there)
                ? ""
                : "publisher: " + here + "\ntarget:    " + there + "\n" + explain(rows + " LIMIT " + FETCHED);
    }

    private String explain(String rows) {
        Map<String, Integer> surplus = new TreeMap<>();
        publisher.column(rows).forEach(row -> surplus.merge(row, 1, Integer::sum));
        target.column(rows).forEach(row -> surplus.merge(row, -1, Integer::sum));
        List<String> missing = new ArrayList<>();
        List<String> extra = new ArrayList<>();
        surplus.forEach((row, count) -> {
            if (count != 0) {
                (count > 0 ? missing : extra).add("  " + Math.abs(count) + " x " + shorten(row));
            }
        });
        return missing.size() + " missing on the target:\n" + head(missing) + extra.size() + " on the target only:\n"
                + head(extra);
    }

    private static String head(List<String> rows) {
        return String.join("\n", rows.subList(0, Math.min(SHOWN, rows.size()))) + "\n";
    }

    private static String shorten(String row) {
        return row.length() <= 300 ? row : row.substring(0, 300) + "... (" + row.length() + " characters)";
    }
}
