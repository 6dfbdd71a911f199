package dev.pgapply.worker.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.relation.RelationMapping;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetColumn.IdentityKind;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.relation.TargetTable.Kind;
import dev.pgapply.core.relation.TargetTable.Triggers;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableCopyTest {

    private static final QualifiedName NAME = new QualifiedName("My Schema", "Sel\"ect");
    private static final Oid INT4 = new Oid(23);
    private static final Oid INT8 = new Oid(20);

    private static PublishedColumn remote(String name, boolean generated, boolean binary) {
        return new PublishedColumn(name, INT4, -1, "integer", false, generated, binary, false);
    }

    private static TargetColumn local(String name, Oid type, boolean generated) {
        return new TargetColumn(name, type, "integer", -1, false, false, generated, IdentityKind.NONE, true, false);
    }

    private static PublishedTable published(boolean partitioned, List<String> rowFilters, PublishedColumn... columns) {
        return new PublishedTable(
                new Oid(70_000),
                NAME,
                partitioned,
                ReplicaIdentity.DEFAULT,
                List.of(columns),
                rowFilters,
                true,
                true,
                true,
                -1,
                0);
    }

    private static TableCopy copy(PublishedTable published, TargetColumn... columns) {
        TargetTable target = new TargetTable(NAME, Kind.PLAIN, List.of(columns), null, List.of(), false, Triggers.NONE);
        return TableCopy.of(published, RelationMapping.map(published.toRelation(), target, NAME));
    }

    @Test
    void a_plain_table_is_copied_as_such_in_binary_where_the_types_agree() {
        TableCopy copy = copy(
                published(false, List.of(), remote("a b", false, true), remote("c", false, true)),
                local("c", INT4, false),
                local("a b", INT4, false));

        assertThat(copy.copyOut())
                .isEqualTo("COPY \"My Schema\".\"Sel\"\"ect\" (\"a b\", \"c\") TO STDOUT WITH (FORMAT binary)");
        assertThat(copy.copyIn())
                .isEqualTo("COPY \"My Schema\".\"Sel\"\"ect\" (\"a b\", \"c\") FROM STDIN WITH (FORMAT binary)");
    }

    @Test
    void text_carries_values_of_another_type_and_types_without_a_common_binary_form() {
        assertThat(copy(published(false, List.of(), remote("a", false, true)), local("a", INT8, false))
                        .copyOut())
                .doesNotContain("binary");
        assertThat(copy(published(false, List.of(), remote("a", false, false)), local("a", INT4, false))
                        .copyIn())
                .doesNotContain("binary");
    }

    @Test
    void a_row_meets_any_of_the_filters_and_is_read_without_what_inherits() {
        TableCopy copy = copy(
                published(false, List.of("a > 1", "a < 0 OR a = 5"), remote("a", false, true)),
                local("a", INT4, false));

        assertThat(copy.copyOut())
                .isEqualTo(
                        "COPY (SELECT \"a\" FROM ONLY \"My Schema\".\"Sel\"\"ect\" WHERE (a > 1) OR (a < 0 OR a = 5))"
                                + " TO STDOUT WITH (FORMAT binary)");
    }

    @Test
    void a_partitioned_table_is_read_through_its_root() {
        TableCopy copy = copy(published(true, List.of(), remote("a", false, true)), local("a", INT4, false));

        assertThat(copy.copyOut())
                .isEqualTo("COPY (SELECT \"a\" FROM \"My Schema\".\"Sel\"\"ect\") TO STDOUT WITH (FORMAT binary)");
    }

    @Test
    void a_published_generated_column_needs_a_query_as_copy_does_not_name_it() {
        TableCopy copy = copy(published(false, List.of(), remote("a", true, true)), local("a", INT4, false));

        assertThat(copy.copyOut()).startsWith("COPY (SELECT \"a\" FROM ONLY ");
        assertThat(copy.copyIn()).contains("(\"a\") FROM STDIN");
    }

    @Test
    void a_column_that_the_target_generates_is_left_out_on_both_sides() {
        TableCopy copy = copy(
                published(false, List.of(), remote("a", false, true), remote("g", false, true)),
                local("a", INT4, false),
                local("g", INT4, true));

        assertThat(copy.copyOut()).contains("(\"a\") TO STDOUT");
        assertThat(copy.copyIn()).contains("(\"a\") FROM STDIN");
    }

    @Test
    void a_range_of_a_partition_is_read_by_itself_and_with_the_roots_filters() {
        TableCopy copy =
                copy(published(true, List.of("a > 1", "a < 0"), remote("a", false, true)), local("a", INT4, false));

        assertThat(copy.copyOut(new QualifiedName("s", "leaf"), new BlockRange(10, 20).condition()))
                .isEqualTo("COPY (SELECT \"a\" FROM ONLY \"s\".\"leaf\" WHERE ctid >= '(10,0)' AND ctid < '(20,0)'"
                        + " AND ((a > 1) OR (a < 0))) TO STDOUT WITH (FORMAT binary)");
        assertThat(copy.copyOut(new QualifiedName("s", "leaf"), null)).contains("\"leaf\" WHERE (a > 1) OR (a < 0))");
    }

    @Test
    void ranges_follow_one_another_and_the_last_has_no_end() {
        assertThat(BlockRange.split(10, 3))
                .containsExactly(new BlockRange(0, 3), new BlockRange(3, 6), new BlockRange(6, BlockRange.UNBOUNDED));
        assertThat(BlockRange.split(10, 1)).containsExactly(new BlockRange(0, BlockRange.UNBOUNDED));
        assertThat(new BlockRange(6, BlockRange.UNBOUNDED).condition()).isEqualTo("ctid >= '(6,0)'");
    }
}
