package dev.pgapply.core.batch;

import static dev.pgapply.core.batch.Changes.insert;
import static dev.pgapply.core.batch.Changes.transaction;
import static dev.pgapply.core.batch.Changes.update;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

class SetPlanTest {

    private final RelationMapEntry t = RelationFixture.keyed("t", "a").entry();
    private final RelationMapEntry other = RelationFixture.keyed("other", "a").entry();

    @Test
    void steps_in_order_are_runs_of_one_relation_with_truncates_between() {
        Change first = insert(t, "1", "x");
        Change second = update(t, "1", "y");
        Change third = insert(other, "1", "x");
        Truncation truncation = new Truncation(List.of(other), false);
        Change fourth = insert(t, "2", "x");

        SetPlan plan = SetPlan.inOrder(transaction(first, second, third, truncation, fourth));

        assertThat(plan.phases())
                .containsExactly(
                        run(t, first, second),
                        run(other, third),
                        new SetPlan.TruncatePhase(truncation),
                        run(t, fourth));
    }

    @Test
    void another_description_of_the_same_table_is_a_run_of_its_own() {
        RelationMapEntry altered = RelationFixture.keyed("t", "a", "b").entry();
        Change before = insert(t, "1", "x");
        Change after = insert(altered, "2", "x", "y");

        SetPlan plan = SetPlan.inOrder(transaction(before, after));

        assertThat(plan.phases()).containsExactly(run(t, before), run(altered, after));
    }

    private static SetPlan.Phase run(RelationMapEntry relation, Change... changes) {
        SetPlan.Stage stage = new SetPlan.Stage(List.of(), List.of(), List.of(), List.of(changes));
        return new SetPlan.RelationPhase(List.of(new SetPlan.RelationChanges(relation, List.of(stage))));
    }
}
