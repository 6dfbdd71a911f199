package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SnapshotBuildTest {

    private static final List<SnapshotBuildPhase> ROUNDS = List.of(SnapshotBuildPhase.values());

    private static RunningTransactions none(long next) {
        return RunningTransactions.of(next, next, List.of());
    }

    private static RunningTransactions running(long next, Long... xids) {
        return RunningTransactions.of(xids[0], next, List.of(xids));
    }

    @Test
    void with_no_transaction_running_it_goes_straight_to_consistent() {
        assertThat(SnapshotBuild.START.after(none(700)).phase()).isEqualTo(SnapshotBuildPhase.CONSISTENT);
    }

    @Test
    void two_rounds_each_wait_for_what_ran_when_the_round_began() {
        SnapshotBuild first = SnapshotBuild.START.after(running(701, 700L));
        SnapshotBuild stillFirst = first.after(running(705, 700L, 703L));
        SnapshotBuild second = stillFirst.after(running(706, 703L));
        SnapshotBuild stillSecond = second.after(running(710, 703L, 708L));
        SnapshotBuild done = stillSecond.after(running(711, 708L));

        assertThat(first).isEqualTo(new SnapshotBuild(SnapshotBuildPhase.BUILDING_SNAPSHOT, 701));
        assertThat(stillFirst).isEqualTo(first);
        assertThat(second).isEqualTo(new SnapshotBuild(SnapshotBuildPhase.FULL_SNAPSHOT, 706));
        assertThat(stillSecond).isEqualTo(second);
        assertThat(done.phase()).isEqualTo(SnapshotBuildPhase.CONSISTENT);
    }

    @Test
    void a_moment_without_transactions_ends_either_round() {
        SnapshotBuild first = SnapshotBuild.START.after(running(701, 700L));
        SnapshotBuild second = first.after(running(706, 703L));

        assertThat(first.after(none(702)).phase()).isEqualTo(SnapshotBuildPhase.CONSISTENT);
        assertThat(second.after(none(707)).phase()).isEqualTo(SnapshotBuildPhase.CONSISTENT);
    }

    @Test
    void one_look_makes_one_step_at_most() {
        SnapshotBuild first = SnapshotBuild.START.after(running(701, 700L));

        assertThat(first.after(running(900, 899L)).phase()).isEqualTo(SnapshotBuildPhase.FULL_SNAPSHOT);
    }

    @Test
    void what_began_after_the_round_is_not_waited_for() {
        SnapshotBuild first = SnapshotBuild.START.after(running(702, 700L, 701L));

        assertThat(first.waitedFor(running(720, 700L, 701L, 702L, 719L))).isEqualTo(2);
        assertThat(first.waitsFor(701)).isTrue();
        assertThat(first.waitsFor(702)).isFalse();
    }

    @Test
    void consistent_stays_consistent() {
        SnapshotBuild done = SnapshotBuild.START.after(none(700));

        assertThat(done.after(running(702, 701L))).isEqualTo(done);
    }

    @Test
    void a_transaction_that_the_snapshot_is_too_old_to_list_runs_all_the_same() {
        // pg_current_snapshot() ends at the latest completed id plus one: 700 and 701 run, and it says 700:700:
        RunningTransactions running = RunningTransactions.of(700, 700, List.of(701L, 700L));

        assertThat(running).isEqualTo(new RunningTransactions(List.of(700L, 701L), 700, 702));
        assertThat(SnapshotBuild.START.after(running).phase()).isEqualTo(SnapshotBuildPhase.BUILDING_SNAPSHOT);
    }

    @Test
    void a_transaction_that_only_the_snapshot_shows_runs_too() {
        assertThat(RunningTransactions.of(700, 705, List.of(703L)))
                .isEqualTo(new RunningTransactions(List.of(703L), 700, 705));
    }

    @Test
    void ids_beyond_the_first_epoch_keep_their_order() {
        long epoch = 1L << 32;

        assertThat(RunningTransactions.fullXid(-5, epoch + 3)).isEqualTo(epoch - 5);
        assertThat(RunningTransactions.fullXid(2, epoch - 7)).isEqualTo(epoch + 2);
        assertThat(RunningTransactions.fullXid(731, 740)).isEqualTo(731);
        assertThatThrownBy(() -> new RunningTransactions(List.of(), 5, 4)).hasMessageContaining("oldest running xid 5");
    }

    /** Against the definition: consistent as soon as none runs, or two sets of transactions have ended one after the other. */
    @RepeatedTest(50)
    void the_phases_are_those_of_the_definition(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        List<Long> running = new ArrayList<>();
        long next = 700;
        SnapshotBuild build = SnapshotBuild.START;
        List<Long> round = List.of();
        int rounds = 0;
        for (int look = 0; look < 200 && build.phase() != SnapshotBuildPhase.CONSISTENT; look++) {
            if (random.nextInt(3) > 0) {
                running.add(next++);
            }
            if (random.nextInt(3) > 0 && running.size() > 1) {
                running.remove(random.nextInt(running.size()));
            }
            if (random.nextInt(40) == 0) {
                running.clear();
            }
            boolean roundEnded = running.stream().noneMatch(round::contains);

            build = build.after(RunningTransactions.of(running.isEmpty() ? next : running.get(0), next, running));

            rounds += rounds == 0 || roundEnded ? 1 : 0;
            round = rounds > 0 && roundEnded ? List.copyOf(running) : round;
            SnapshotBuildPhase expected =
                    running.isEmpty() ? SnapshotBuildPhase.CONSISTENT : ROUNDS.get(Math.min(rounds, 3));
            assertThat(build.phase())
                    .as("seed %d, look %d", repetition.getCurrentRepetition(), look)
                    .isEqualTo(expected);
        }
    }
}
