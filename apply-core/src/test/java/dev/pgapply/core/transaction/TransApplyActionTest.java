package dev.pgapply.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.transaction.TransApplyAction.Assignment;
import dev.pgapply.core.transaction.TransApplyAction.Situation;
import dev.pgapply.core.transaction.TransApplyAction.WorkerChoice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransApplyActionTest {

    /** Everything that lets a transaction have a worker. */
    private static final WorkerChoice FAVOURABLE =
            new WorkerChoice(StreamingMode.PARALLEL, true, true, true, false, false);

    private static TransApplyAction leader(boolean streamed, Assignment assignment, WorkerChoice choice) {
        return TransApplyAction.decide(new Situation(false, streamed, assignment, choice));
    }

    @Test
    void an_ordinary_transaction_is_applied_by_the_leader() {
        assertThat(leader(false, Assignment.NONE, FAVOURABLE)).isEqualTo(TransApplyAction.LEADER_APPLY);
    }

    @Test
    void a_streamed_transaction_gets_a_worker_when_its_first_segment_begins() {
        assertThat(leader(true, Assignment.NONE, FAVOURABLE)).isEqualTo(TransApplyAction.LEADER_SEND_TO_PARALLEL);
    }

    @Test
    void each_condition_alone_keeps_a_worker_from_a_streamed_transaction() {
        List<WorkerChoice> choices = List.of(
                new WorkerChoice(StreamingMode.ON, true, true, true, false, false),
                new WorkerChoice(StreamingMode.PARALLEL, false, true, true, false, false),
                new WorkerChoice(StreamingMode.PARALLEL, true, false, true, false, false),
                new WorkerChoice(StreamingMode.PARALLEL, true, true, false, false, false),
                new WorkerChoice(StreamingMode.PARALLEL, true, true, true, true, false),
                new WorkerChoice(StreamingMode.PARALLEL, true, true, true, false, true));

        List<TransApplyAction> actions = choices.stream()
                .map(choice -> leader(true, Assignment.NONE, choice))
                .toList();

        assertThat(actions).hasSize(choices.size()).containsOnly(TransApplyAction.LEADER_SERIALIZE);
    }

    @Test
    void what_has_a_worker_keeps_it_whatever_would_keep_it_from_getting_one() {
        for (WorkerChoice choice : everyChoice()) {
            assertThat(leader(true, Assignment.ASSIGNED, choice)).isEqualTo(TransApplyAction.LEADER_SEND_TO_PARALLEL);
            assertThat(leader(true, Assignment.SEND_TIMED_OUT, choice))
                    .isEqualTo(TransApplyAction.LEADER_PARTIAL_SERIALIZE);
        }
    }

    @ParameterizedTest
    @EnumSource(Assignment.class)
    void a_parallel_apply_worker_applies(Assignment assignment) {
        assertThat(TransApplyAction.decide(new Situation(true, true, assignment, FAVOURABLE)))
                .isEqualTo(TransApplyAction.PARALLEL_APPLY);
    }

    private static List<WorkerChoice> everyChoice() {
        List<WorkerChoice> choices = new ArrayList<>();
        for (StreamingMode streaming : StreamingMode.values()) {
            for (int bits = 0; bits < 32; bits++) {
                choices.add(new WorkerChoice(
                        streaming,
                        (bits & 1) != 0,
                        (bits & 2) != 0,
                        (bits & 4) != 0,
                        (bits & 8) != 0,
                        (bits & 16) != 0));
            }
        }
        return choices;
    }
}
