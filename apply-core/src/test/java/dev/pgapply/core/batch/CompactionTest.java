package dev.pgapply.core.batch;

import static dev.pgapply.core.batch.Changes.UNCHANGED;
import static dev.pgapply.core.batch.Changes.delete;
import static dev.pgapply.core.batch.Changes.insert;
import static dev.pgapply.core.batch.Changes.net;
import static dev.pgapply.core.batch.Changes.transaction;
import static dev.pgapply.core.batch.Changes.update;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompactionTest {

    private final RelationMapEntry t = RelationFixture.keyed("t", "a").entry();
    private final RelationMapEntry other = RelationFixture.keyed("other", "a").entry();
    private final RelationMapEntry numeric = RelationFixture.named("numeric")
            .keyColumn("n", RelationFixture.NUMERIC)
            .column("a", RelationFixture.TEXT)
            .identity("n")
            .entry();
    private final RelationMapEntry log =
            RelationFixture.named("log").column("a", RelationFixture.TEXT).entry();

    @Test
    void relations_come_in_the_order_in_which_they_were_first_touched() {
        assertThat(net(insert(other, "1", "x"), insert(t, "1", "x"), insert(other, "2", "y")))
                .containsExactly("other/0: insert (1,x)", "other/0: insert (2,y)", "t/0: insert (1,x)");
    }

    @Test
    void nothing_moves_across_a_truncate() {
        assertThat(net(
                        insert(t, "1", "old"),
                        new Truncation(List.of(t), false),
                        insert(t, "1", "new"),
                        update(t, "1", "newer")))
                .containsExactly("t/0: insert (1,old)", "truncate", "t/0: insert (1,newer)");
    }

    @Test
    void transactions_of_one_batch_are_compacted_together() {
        SetPlan plan = Compaction.plan(List.of(transaction(insert(t, "1", "a")), transaction(update(t, "1", "b"))));

        assertThat(plan).isNotNull();
        assertThat(Changes.describe(plan)).containsExactly("t/0: insert (1,b)");
    }

    @Test
    void transactions_without_steps_need_no_statement() {
        assertThat(net()).isEmpty();
    }

    @Test
    void a_relation_with_a_trigger_that_fires_makes_the_whole_batch_exact() {
        RelationMapEntry watched =
                RelationFixture.keyed("watched", "a").rowTrigger("audit").entry();

        assertThat(net(insert(t, "1", "a"), insert(watched, "1", "a"))).containsExactly("exact");
        assertThat(net(new Truncation(List.of(t, watched), false))).containsExactly("exact");
    }

    @Test
    void a_table_known_by_two_descriptions_is_applied_exactly() {
        RelationMapEntry altered = RelationFixture.keyed("t", "a", "b").entry();

        assertThat(net(insert(t, "1", "a"), insert(altered, "2", "a", "b"))).containsExactly("exact");
        assertThat(net(insert(t, "1", "a"), new Truncation(List.of(t), false), insert(altered, "2", "a", "b")))
                .containsExactly("exact");
    }

    @Test
    void an_equal_description_is_the_same_table() {
        RelationMapEntry again = RelationFixture.keyed("t", "a").entry();

        assertThat(net(insert(t, "1", "a"), update(again, "1", "b"))).containsExactly("t/0: insert (1,b)");
    }

    @Test
    void rows_whose_bytes_say_nothing_are_a_set_only_until_one_has_to_be_found() {
        assertThat(net(
                        insert(numeric, "1.0", "a"),
                        insert(numeric, "2", "b"),
                        update(numeric, "1.00", "c"),
                        insert(numeric, "3", "d"),
                        delete(numeric, "2", null)))
                .containsExactly(
                        "numeric/0: insert (1.0,a)",
                        "numeric/0: insert (2,b)",
                        "numeric/0: in order UPDATE",
                        "numeric/0: in order INSERT",
                        "numeric/0: in order DELETE");
    }

    @Test
    void inserts_need_no_key() {
        assertThat(net(insert(log, "a"), insert(log, "a"))).containsExactly("log/0: insert (a)", "log/0: insert (a)");
        assertThat(net(insert(log, UNCHANGED))).containsExactly("log/0: in order INSERT");
    }
}
