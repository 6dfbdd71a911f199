package dev.pgapply.core.batch;

import static dev.pgapply.core.batch.Changes.UNCHANGED;
import static dev.pgapply.core.batch.Changes.delete;
import static dev.pgapply.core.batch.Changes.insert;
import static dev.pgapply.core.batch.Changes.net;
import static dev.pgapply.core.batch.Changes.tuple;
import static dev.pgapply.core.batch.Changes.update;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.pgoutput.TupleBuilder;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeyedCompactionTest {

    private final RelationMapEntry t = RelationFixture.keyed("t", "a", "big").entry();

    @Test
    void updates_merge_into_the_insert_before_them() {
        assertThat(net(insert(t, "1", "a", "B"), update(t, "1", "c", UNCHANGED), update(t, "1", "d", UNCHANGED)))
                .containsExactly("t/0: insert (1,d,B)");
    }

    @Test
    void an_unchanged_value_never_overwrites_one_merged_earlier() {
        assertThat(net(update(t, "1", "a", "B"), update(t, "1", "c", UNCHANGED)))
                .containsExactly("t/0: update (1,a,B) to (1,c,B) set [0, 1, 2] MUST_BE_FOUND");
    }

    @Test
    void merged_updates_set_all_columns_that_one_of_them_sent() {
        assertThat(net(update(t, "1", "a", UNCHANGED), update(t, "1", UNCHANGED, "B")))
                .containsExactly("t/0: update (1,a,~) to (1,a,B) set [0, 1, 2] MUST_BE_FOUND");
    }

    @Test
    void updates_are_grouped_by_the_columns_they_set() {
        assertThat(net(update(t, "1", "a", UNCHANGED), update(t, "2", "b", "B"), update(t, "3", "c", UNCHANGED)))
                .containsExactly(
                        "t/0: update (1,a,~) to (1,a,~) set [0, 1] MAY_BE_MISSING",
                        "t/0: update (3,c,~) to (3,c,~) set [0, 1] MAY_BE_MISSING",
                        "t/0: update (2,b,B) to (2,b,B) set [0, 1, 2] MAY_BE_MISSING");
    }

    @Test
    void a_row_inserted_and_deleted_must_have_been_absent() {
        assertThat(net(insert(t, "1", "a", "b"), update(t, "1", "c", "b"), delete(t, "1", null, null)))
                .containsExactly("t/0: delete (1,null,null) MUST_BE_ABSENT");
    }

    @Test
    void a_row_inserted_deleted_and_inserted_again_is_inserted() {
        assertThat(net(insert(t, "1", "a", "b"), delete(t, "1", null, null), insert(t, "1", "c", "d")))
                .containsExactly("t/0: insert (1,c,d)");
    }

    @Test
    void a_row_deleted_and_inserted_stays_a_delete_and_an_insert() {
        assertThat(net(delete(t, "1", null, null), insert(t, "1", "a", "b"), update(t, "1", "c", UNCHANGED)))
                .containsExactly("t/0: delete (1,null,null) MAY_BE_MISSING", "t/0: insert (1,c,b)");
    }

    @Test
    void a_row_updated_and_deleted_must_be_found() {
        assertThat(net(update(t, "1", "a", "b"), delete(t, "1", null, null)))
                .containsExactly("t/0: delete (1,a,b) MUST_BE_FOUND");
    }

    @Test
    void a_key_change_is_an_update_in_order_and_ends_the_merging_of_both_keys() {
        assertThat(net(
                        update(t, "1", "a", "b"),
                        update(t, tuple("1", null, null), tuple("2", "c", UNCHANGED)),
                        update(t, "2", "d", UNCHANGED),
                        insert(t, "1", "e", "f")))
                .containsExactly(
                        "t/0: update (1,a,b) to (1,a,b) set [0, 1, 2] MAY_BE_MISSING",
                        "t/0: in order UPDATE",
                        "t/1: update (2,d,~) to (2,d,~) set [0, 1] MAY_BE_MISSING",
                        "t/1: insert (1,e,f)");
    }

    @Test
    void a_swap_of_keys_keeps_its_order_in_one_stage() {
        assertThat(net(
                        update(t, tuple("1", null, null), tuple("9", "a", "b")),
                        update(t, tuple("2", null, null), tuple("1", "a", "b")),
                        update(t, tuple("9", null, null), tuple("2", "a", "b"))))
                .containsExactly("t/0: in order UPDATE", "t/0: in order UPDATE", "t/0: in order UPDATE");
    }

    @Test
    void a_shift_of_all_keys_is_one_stage() {
        Step[] shift = IntStream.iterate(10_000, id -> id > 0, id -> id - 1)
                .mapToObj(id -> update(t, tuple("" + id, null, null), tuple("" + (id + 1), "a", "b")))
                .toArray(Step[]::new);

        assertThat(net(shift)).hasSize(10_000).containsOnly("t/0: in order UPDATE");
    }

    @Test
    void an_old_tuple_with_the_same_key_is_no_key_change() {
        RelationMapEntry wide = RelationFixture.named("w")
                .keyColumn("id", RelationFixture.INT4)
                .keyColumn("part", RelationFixture.TEXT)
                .identity("id")
                .entry();

        assertThat(net(update(wide, tuple("1", "x"), tuple("1", "y"))))
                .containsExactly("w/0: update (1,x) to (1,y) set [0, 1] MAY_BE_MISSING");
    }

    @Test
    void a_toasted_key_that_was_not_sent_anew_is_the_old_one() {
        RelationMapEntry named = RelationFixture.named("n")
                .keyColumn("name", RelationFixture.TEXT)
                .column("v", RelationFixture.TEXT)
                .identity("name")
                .entry();

        assertThat(net(insert(named, "long", "1"), update(named, tuple("long", null), tuple(UNCHANGED, "2"))))
                .containsExactly("n/0: insert (long,2)");
        assertThat(net(update(named, UNCHANGED, "2"))).containsExactly("exact");
    }

    @Test
    void an_insert_that_does_not_carry_all_values_is_left_to_the_dialect_in_its_place() {
        assertThat(net(delete(t, "1", null, null), insert(t, "1", "a", UNCHANGED), update(t, "1", "c", UNCHANGED)))
                .containsExactly(
                        "t/0: delete (1,null,null) MAY_BE_MISSING",
                        "t/0: in order INSERT",
                        "t/1: update (1,c,~) to (1,c,~) set [0, 1] MAY_BE_MISSING");
    }

    @Test
    void what_no_publisher_does_to_one_key_is_applied_exactly() {
        assertThat(net(insert(t, "1", "a", "b"), insert(t, "1", "a", "b"))).containsExactly("exact");
        assertThat(net(update(t, "1", "a", "b"), insert(t, "1", "a", "b"))).containsExactly("exact");
        assertThat(net(delete(t, "1", null, null), update(t, "1", "a", "b"))).containsExactly("exact");
        assertThat(net(delete(t, "1", null, null), delete(t, "1", null, null))).containsExactly("exact");
        assertThat(net(insert(t, "1", "a", "b"), delete(t, "1", null, null), delete(t, "1", null, null)))
                .containsExactly("exact");
    }

    @Test
    void keys_of_two_formats_are_not_compared() {
        Change binary = new Change(
                Change.Kind.DELETE,
                t,
                new TupleBuilder()
                        .binary(new byte[] {0, 0, 0, 1})
                        .text(null)
                        .text(null)
                        .build(),
                null);

        assertThat(net(insert(t, "1", "a", "b"), binary)).containsExactly("exact");
    }

    @Test
    void a_null_key_is_applied_in_order() {
        assertThat(net(insert(t, "1", "a", "b"), update(t, null, "a", "b")))
                .containsExactly("t/0: insert (1,a,b)", "t/0: in order UPDATE");
    }
}
