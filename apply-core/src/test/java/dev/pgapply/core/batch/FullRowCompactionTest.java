package dev.pgapply.core.batch;

import static dev.pgapply.core.batch.Changes.UNCHANGED;
import static dev.pgapply.core.batch.Changes.delete;
import static dev.pgapply.core.batch.Changes.insert;
import static dev.pgapply.core.batch.Changes.net;
import static dev.pgapply.core.batch.Changes.tuple;
import static dev.pgapply.core.batch.Changes.update;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FullRowCompactionTest {

    private final RelationMapEntry f = RelationFixture.full("f", "a", "b").entry();
    private final RelationMapEntry priced = RelationFixture.named("p")
            .replicaIdentity(ReplicaIdentity.FULL)
            .keyColumn("a", RelationFixture.TEXT)
            .keyColumn("price", RelationFixture.NUMERIC)
            .entry();

    @Test
    void single_changes_of_different_rows_may_miss_them() {
        assertThat(net(update(f, tuple("1", null), tuple("1", "x")), delete(f, "2", "y"), insert(f, "3", "z")))
                .containsExactly(
                        "f/0: delete (2,y) MAY_BE_MISSING",
                        "f/0: update (1,null) to (1,x) set [0, 1] MAY_BE_MISSING",
                        "f/0: insert (3,z)");
    }

    @Test
    void a_row_that_the_batch_inserted_is_updated_before_it_is_inserted() {
        assertThat(net(insert(f, "1", "x"), update(f, tuple("1", "x"), tuple("1", "y"))))
                .containsExactly("f/0: insert (1,y)");
    }

    @Test
    void a_row_that_the_batch_inserted_and_deleted_is_nothing() {
        assertThat(net(insert(f, "1", "x"), delete(f, "1", "x"))).isEmpty();
    }

    @Test
    void of_two_equal_rows_inserted_one_is_deleted() {
        assertThat(net(insert(f, "1", "x"), insert(f, "1", "x"), delete(f, "1", "x")))
                .containsExactly("f/0: insert (1,x)");
    }

    @Test
    void a_chain_of_updates_is_one_update_that_must_be_found() {
        assertThat(net(
                        update(f, tuple("1", "x"), tuple("2", "x")),
                        update(f, tuple("2", "x"), tuple("3", "x")),
                        delete(f, "3", "x")))
                .containsExactly("f/0: delete (1,x) MUST_BE_FOUND");
    }

    @Test
    void a_shift_of_all_rows_is_one_stage() {
        Step[] shift = IntStream.range(0, 2_000)
                .mapToObj(a -> update(f, tuple("" + a, "x"), tuple("" + (a + 1), "x")))
                .toArray(Step[]::new);

        assertThat(net(shift)).containsExactly("f/0: update (0,x) to (2000,x) set [0, 1] MUST_BE_FOUND");
    }

    @Test
    void deletes_of_equal_rows_may_each_miss_theirs() {
        assertThat(net(delete(f, "1", "x"), delete(f, "1", "x")))
                .containsExactly("f/0: delete (1,x) MAY_BE_MISSING", "f/0: delete (1,x) MAY_BE_MISSING");
    }

    @Test
    void where_an_update_and_a_delete_compete_for_a_row_both_must_find_one() {
        assertThat(net(update(f, tuple("1", "x"), tuple("2", "x")), delete(f, "1", "x")))
                .containsExactly(
                        "f/0: delete (1,x) MUST_BE_FOUND", "f/0: update (1,x) to (2,x) set [0, 1] MUST_BE_FOUND");
    }

    @Test
    void rows_that_may_be_equal_in_other_bytes_count_as_equal_for_what_must_be_found() {
        assertThat(net(insert(priced, "1", "1.00"), delete(priced, "1", "1.0"), delete(priced, "2", "1.0")))
                .containsExactly(
                        "p/0: delete (1,1.0) MUST_BE_FOUND",
                        "p/0: delete (2,1.0) MAY_BE_MISSING",
                        "p/0: insert (1,1.00)");
    }

    @Test
    void an_unchanged_value_is_known_from_the_old_tuple_and_not_set() {
        assertThat(net(update(f, tuple("1", "big"), tuple("2", UNCHANGED))))
                .containsExactly("f/0: update (1,big) to (2,~) set [0] MAY_BE_MISSING");
        assertThat(net(update(f, tuple("1", "big"), tuple("2", UNCHANGED)), delete(f, "2", "big")))
                .containsExactly("f/0: delete (1,big) MUST_BE_FOUND");
    }

    @Test
    void competing_updates_set_all_columns_so_that_they_are_one_set() {
        assertThat(net(
                        update(f, tuple("2", "big"), tuple("3", "big")),
                        update(f, tuple("1", "big"), tuple("2", UNCHANGED))))
                .containsExactly(
                        "f/0: update (2,big) to (3,big) set [0, 1] MUST_BE_FOUND",
                        "f/0: update (1,big) to (2,big) set [0, 1] MAY_BE_MISSING");
    }

    @Test
    void an_update_without_its_old_row_is_applied_exactly() {
        assertThat(net(update(f, "1", "x"))).containsExactly("exact");
    }
}
