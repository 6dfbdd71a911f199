package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.SearchKey;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A target table in memory, as far as compaction could get it wrong: rows found by key or as a whole, NULLs, numerics that are equal in
 * other bytes, unique constraints checked row by row, a column of the target's own. Where PostgreSQL promises no order, a random one
 * is taken.
 */
final class InMemoryTable {

    /** A row is refused: a unique constraint. */
    static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    /** What the target's own column holds in a row that was there, and what it gets by default. */
    static final String OWN = "own";

    static final String DEFAULT = "default";

    static final class Row {
        final @Nullable String[] values;
        final String own;

        Row(@Nullable String[] values, String own) {
            this.values = values;
            this.own = own;
        }
    }

    final RelationMapEntry relation;
    private final int uniqueColumn;
    private final Random random;
    private List<Row> rows = new ArrayList<>();

    /** @param uniqueColumn a further unique column, or -1 */
    InMemoryTable(RelationMapEntry relation, int uniqueColumn, Random random) {
        this.relation = relation;
        this.uniqueColumn = uniqueColumn;
        this.random = random;
    }

    InMemoryTable copy() {
        InMemoryTable copy = new InMemoryTable(relation, uniqueColumn, random);
        copy.rows = new ArrayList<>(rows);
        return copy;
    }

    List<Row> rows() {
        return rows;
    }

    boolean isFullRow() {
        return relation.key().kind() == SearchKey.Kind.FULL_ROW;
    }

    void truncate() {
        rows.clear();
    }

    void add(Row row) {
        check(row, null);
        rows.add(row);
    }

    void insert(Tuple tuple) {
        @Nullable String[] values = new @Nullable String[tuple.columnCount()];
        for (int column = 0; column < values.length; column++) {
            values[column] = tuple.isUnchanged(column) ? null : tuple.text(column);
        }
        add(new Row(values, DEFAULT));
    }

    boolean delete(Tuple search) {
        Row row = find(search, rows);
        return row != null && rows.remove(row);
    }

    boolean update(Tuple search, Tuple newTuple) {
        Row row = find(search, rows);
        if (row == null) {
            return false;
        }
        replace(row, changed(row, newTuple));
        return true;
    }

    void replace(Row row, Row changed) {
        check(changed, row);
        rows.set(rows.indexOf(row), changed);
    }

    static Row changed(Row row, Tuple newTuple) {
        @Nullable String[] values = row.values.clone();
        for (int column = 0; column < values.length; column++) {
            if (!newTuple.isUnchanged(column)) {
                values[column] = newTuple.text(column);
            }
        }
        return new Row(values, row.own);
    }

    /** Any one of the rows that are meant, of those offered. */
    @Nullable
    Row find(Tuple search, List<Row> offered) {
        List<Row> shuffled = new ArrayList<>(offered);
        Collections.shuffle(shuffled, random);
        for (Row row : shuffled) {
            if (matches(row, search)) {
                return row;
            }
        }
        return null;
    }

    private boolean matches(Row row, Tuple search) {
        for (int column : relation.key().remoteColumns()) {
            String value = search.text(column);
            String stored = row.values[column];
            if (value == null || stored == null) {
                if (!isFullRow() || value != null || stored != null) {
                    return false;
                }
            } else if (!same(column, value, stored)) {
                return false;
            }
        }
        return true;
    }

    private boolean same(int column, String a, String b) {
        return isNumeric(column) ? new BigDecimal(a).compareTo(new BigDecimal(b)) == 0 : a.equals(b);
    }

    private boolean isNumeric(int column) {
        return relation.remote().columns().get(column).type().equals(RelationFixture.NUMERIC);
    }

    private void check(Row row, @Nullable Row besides) {
        for (Row other : rows) {
            if (other != besides && (sameKey(row, other) || sameUnique(row, other))) {
                throw new RefusedException(Arrays.toString(row.values) + " exists");
            }
        }
    }

    private boolean sameKey(Row a, Row b) {
        if (relation.key().kind() != SearchKey.Kind.UNIQUE) {
            return false;
        }
        return relation.key().remoteColumns().stream().allMatch(column -> sameValue(column, a, b));
    }

    private boolean sameUnique(Row a, Row b) {
        return uniqueColumn >= 0 && sameValue(uniqueColumn, a, b);
    }

    private boolean sameValue(int column, Row a, Row b) {
        String value = a.values[column];
        String other = b.values[column];
        return value != null && other != null && same(column, value, other);
    }

    /** The rows in a form that compares: of equal rows without a key any one may have been changed, so their own column says nothing. */
    List<String> contents() {
        List<String> lines = new ArrayList<>();
        for (Row row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.values.length; column++) {
                String value = row.values[column];
                boolean byValue = isFullRow() && isNumeric(column) && value != null;
                line.append(byValue ? new BigDecimal(value).stripTrailingZeros().toPlainString() : value)
                        .append('|');
            }
            lines.add(isFullRow() ? line.toString() : line + row.own);
        }
        Collections.sort(lines);
        return lines;
    }
}
