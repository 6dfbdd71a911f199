package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The copy of one table, as the two COPY statements that do it (tablesync.c, copy_table). Immutable.
 *
 * @param columns the published columns that the target takes; one that meets a generated column is computed there
 * @param binary whether every one of them means the same bytes on both sides
 */
record TableCopy(PublishedTable published, TargetTable target, List<PublishedColumn> columns, boolean binary) {

    static TableCopy of(PublishedTable published, RelationMapEntry entry) {
        List<PublishedColumn> columns =
                entry.mappedColumns().stream().map(published.columns()::get).toList();
        boolean binary = !columns.isEmpty();
        for (int remote : entry.mappedColumns()) {
            PublishedColumn column = published.columns().get(remote);
            var local = entry.localColumn(remote);
            binary &= column.binary() && local != null && local.type().equals(column.type());
        }
        return new TableCopy(published, entry.target(), columns, binary);
    }

    QualifiedName name() {
        return published.name();
    }

    /** For the publisher. A plain table's own rows only: what inherits from it is published by itself. */
    String copyOut() {
        String rows = isSelect() ? "(" + select() + ")" : Identifiers.quote(published.name()) + columnList();
        return "COPY " + rows + " TO STDOUT" + format();
    }

    /** COPY of a table can neither filter, nor name a generated column, nor read through a partitioned table. */
    private boolean isSelect() {
        return published.partitioned()
                || !published.rowFilters().isEmpty()
                || columns.stream().anyMatch(PublishedColumn::generated);
    }

    /**
     * For the publisher: only a part of the rows.
     *
     * @param relation the table, or one of its partitions
     * @param condition what else a row must meet, or null
     */
    String copyOut(QualifiedName relation, @Nullable String condition) {
        return "COPY (" + select("ONLY " + Identifiers.quote(relation), condition) + ") TO STDOUT" + format();
    }

    /** The rows to copy, as a query on the publisher. */
    String select() {
        return select((published.partitioned() ? "" : "ONLY ") + Identifiers.quote(published.name()), null);
    }

    private String select(String from, @Nullable String condition) {
        String filter =
                published.rowFilters().stream().map(each -> "(" + each + ")").collect(Collectors.joining(" OR "));
        if (condition != null) {
            filter = filter.isEmpty() ? condition : condition + " AND (" + filter + ")";
        }
        return "SELECT " + Identifiers.list(columnNames()) + " FROM " + from
                + (filter.isEmpty() ? "" : " WHERE " + filter);
    }

    /** For the target. */
    String copyIn() {
        return "COPY " + Identifiers.quote(target.name()) + columnList() + " FROM STDIN" + format();
    }

    /** None for a table without columns: an empty list is no SQL. */
    private String columnList() {
        return columns.isEmpty() ? "" : " (" + Identifiers.list(columnNames()) + ")";
    }

    private List<String> columnNames() {
        return columns.stream().map(PublishedColumn::name).toList();
    }

    private String format() {
        return binary ? " WITH (FORMAT binary)" : "";
    }
}
