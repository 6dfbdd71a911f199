package dev.pgapply.worker.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.apply.ParallelApplyWorkers.Worker;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ParallelApplyWorkerPoolTest {

    @Test
    void workers_are_started_as_they_are_needed_and_no_more_than_allowed() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            assertThat(fixture.sessions).isEmpty();

            assertThat(fixture.assign(1).number()).isEqualTo(1);
            assertThat(fixture.assign(2).number()).isEqualTo(2);

            assertThat(fixture.tryAssign(3)).isNull();
            assertThat(fixture.stats.busyWorkers()).isEqualTo(2);
            assertThat(fixture.stats.workers()).hasSize(3);
        }
    }

    @Test
    void without_workers_everything_is_spooled() {
        try (PoolFixture fixture = new PoolFixture(0)) {
            assertThat(fixture.tryAssign(1)).isNull();
        }
    }

    @Test
    void half_of_them_stay_when_they_are_free() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            Worker first = fixture.assign(1);
            Worker second = fixture.assign(2);

            assertThat(fixture.commit(first, 1, 0x200)).isTrue();
            second.rollback(() -> false);

            assertThat(fixture.stats.workers()).hasSize(2);
            assertThat(fixture.sessions.get(0).calls).endsWith("close");
            assertThat(fixture.assign(3).number()).isEqualTo(2);
            assertThat(fixture.sessions).hasSize(2);
        }
    }

    @Test
    void a_commit_is_noted_by_the_leaders_session_and_becomes_durable_with_it() {
        try (PoolFixture fixture = new PoolFixture(1)) {
            Worker worker = fixture.assign(1);

            assertThat(fixture.commit(worker, 1, 0x200)).isTrue();

            assertThat(fixture.sessions.get(0).calls).contains("begin", "commit 0/200");
            while (!fixture.positions.appliedLsn().equals(new Lsn(0x200))) {
                Thread.onSpinWait();
            }
            assertThat(fixture.positions.flushedLsn()).isEqualTo(new Lsn(0x100));
        }
    }

    @Test
    void a_worker_that_has_prepared_is_free_and_has_recorded_no_progress() {
        try (PoolFixture fixture = new PoolFixture(1)) {
            Worker worker = fixture.assign(731);

            assertThat(fixture.prepare(worker, 731, 0x200)).isTrue();

            assertThat(fixture.sessions.get(0).calls)
                    .containsExactly("may prepare 731", "begin", "savepoint", "plan", "prepare 731");
            assertThat(fixture.assign(732).number()).isEqualTo(1);
        }
    }

    @Test
    void the_victim_of_a_deadlock_is_spooled_next_time_and_who_lost_its_connection_is_not() {
        try (PoolFixture fixture = new PoolFixture(2)) {
            Worker victim = fixture.assign(731);
            Worker other = fixture.assign(732);
            fixture.sessions.get(0).planAnswers.add(failure(Kind.TRANSIENT, "40P01"));
            fixture.sessions.get(1).planAnswers.add(failure(Kind.CONNECTION, "08006"));

            assertThatThrownBy(() -> fixture.commit(victim, 731, 0x200)).hasMessageContaining("40P01");
            assertThatThrownBy(() -> fixture.commit(other, 732, 0x300)).hasMessageContaining("08006");

            assertThat(fixture.mustSpool(731)).isTrue();
            assertThat(fixture.mustSpool(732)).isFalse();
        }
    }

    private static ApplyException failure(Kind kind, String sqlState) {
        return new ApplyException(kind, "state " + sqlState, null, sqlState, null, new IllegalStateException("server"));
    }

    @Test
    void a_message_that_cannot_be_applied_ends_the_worker_and_is_spooled_next_time() {
        try (PoolFixture fixture = new PoolFixture(1)) {
            Worker worker = fixture.assign(731);
            byte[] message = {'B', 0, 0, 0, 1};

            assertThat(worker.send(message, 0, message.length, () -> false)).isTrue();

            assertThatThrownBy(() -> fixture.commit(worker, 731, 0x200)).isInstanceOf(ApplyException.class);
            assertThatThrownBy(() -> worker.send(message, 0, message.length, () -> false))
                    .isInstanceOf(ApplyException.class);
            assertThat(fixture.failure()).isNotEmpty();
            assertThat(fixture.mustSpool(731)).isTrue();
            assertThat(fixture.sessions.get(0).calls).doesNotContain("commit 0/200");
        }
    }
}
