package dev.pgapply.worker.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WaitCycleWatchTest {

    private static final int LEADER = 10;

    @Test
    void blockers_are_found_through_others_and_around_circles() {
        Map<Integer, Set<Integer>> waits =
                Map.of(LEADER, Set.of(20), 20, Set.of(30, LEADER), 40, Set.of(50), 30, Set.of(0));

        assertThat(WaitCycleWatch.blockersOf(Set.of(LEADER, 0), waits)).containsExactlyInAnyOrder(20, 30, LEADER, 0);
    }

    @Test
    void who_waits_for_nothing_is_blocked_by_nobody() {
        assertThat(WaitCycleWatch.blockersOf(Set.of(LEADER), Map.of(20, Set.of(LEADER))))
                .isEmpty();
    }

    @Test
    void a_leader_that_waits_for_a_transaction_in_progress_is_a_cycle() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            fixture.assign(731);

            fixture.watch(Map.of(fixture.leaderPid(), Set.of(fixture.pidOf(1))));

            assertThat(fixture.ended()).contains("731").contains("parallel apply worker 1");
            assertThat(fixture.stats.waitCycles.sum()).isEqualTo(1);
            assertThat(fixture.mustSpool(731)).isTrue();
            assertThat(fixture.failure()).contains("wait cycle");
        }
    }

    @Test
    void two_workers_that_wait_for_each_other_in_turn_are_none_while_the_leader_waits_for_neither() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            fixture.assign(731);
            fixture.assign(740);

            fixture.watch(Map.of(fixture.pidOf(1), Set.of(fixture.pidOf(2))));

            assertThat(fixture.ended()).isEmpty();
            assertThat(fixture.stats.waitCycles.sum()).isZero();
        }
    }

    @Test
    void a_leader_that_waits_for_somebody_else_is_none() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            fixture.assign(731);

            fixture.watch(Map.of(fixture.leaderPid(), Set.of(99)));

            assertThat(fixture.ended()).isEmpty();
        }
    }
}
