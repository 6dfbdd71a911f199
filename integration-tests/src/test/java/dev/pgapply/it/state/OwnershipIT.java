package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.catalog.LockHolder;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.jdbc.PostgresConnections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One owner at a time: standby, takeover, and an owner that was replaced while it was frozen. */
class OwnershipIT {

    @Test
    void a_second_engine_learns_who_has_the_subscription_and_gets_it_when_that_one_is_gone() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            Ownership first = state.candidate(state.connections(), "pgapply orders owner", () -> {});
            Ownership second = state.candidate(state.connections(), "pgapply orders owner 2", () -> {});
            assertThat(first.tryAcquire()).isNull();

            LockHolder holder = second.tryAcquire();

            assertThat(holder).isNotNull();
            assertThat(holder.applicationName()).isEqualTo("pgapply orders owner");
            assertThat(holder.address()).isEqualTo("127.0.0.1");
            assertThat(state.database().number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + holder.pid()))
                    .isEqualTo(1);
            first.close();
            Wait.until("the lock to be free", () -> second.tryAcquire() == null);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void an_owner_frozen_during_a_takeover_cannot_commit_afterwards(int version) {
        try (TargetState state = TargetState.on(SharedServers.target(version))) {
            AtomicInteger closedSessions = new AtomicInteger();
            Ownership first =
                    state.candidate(state.connections(), "pgapply orders owner", closedSessions::incrementAndGet);
            assertThat(first.tryAcquire()).isNull();
            EpochFence firstFence = first.takeOver(waitingFor -> {});
            ApplySession frozen = state.session(firstFence);
            frozen.apply(1, "0/1001");
            frozen.execute("BEGIN; INSERT INTO public.t VALUES (2, 2)");

            // It does nothing while its lock session is ended and another engine takes over.
            EpochFence secondFence = state.takeOver();
            ApplySession second = state.session(secondFence);
            second.apply(2, "0/1002");

            assertThatThrownBy(() -> frozen.commit(Lsn.parse("0/1002")))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONNECTION));
            assertThatThrownBy(() -> state.session(firstFence))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.OWNERSHIP_LOST))
                    .hasMessageContaining("epoch is " + firstFence.epoch())
                    .hasMessageContaining("current one is " + secondFence.epoch());
            assertThatThrownBy(first::check)
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.OWNERSHIP_LOST));
            assertThat(closedSessions).hasValue(1);
            assertThat(state.database().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "2");
            assertThat(state.recorded()).isEqualTo(Lsn.parse("0/1002"));
        }
    }

    @Test
    void an_owner_whose_lock_session_lives_passes_the_check() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            Ownership owner = state.candidate(state.connections(), "pgapply orders owner", () -> {});
            assertThat(owner.tryAcquire()).isNull();
            owner.takeOver(waitingFor -> {});

            owner.check();

            assertThat(state.database().number("SELECT epoch FROM pgapply.epoch"))
                    .isEqualTo(1);
        }
    }

    @Test
    void a_takeover_waits_for_sessions_that_it_may_not_end_and_names_them() throws Exception {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession superusers = state.session(state.takeOver());
            PostgresConnections plain = TargetState.connections(
                    state.database(),
                    state.plainRole(),
                    state.database().server().port());
            state.database()
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            + " WHERE application_name = 'pgapply orders owner' AND datname = current_database()");
            Ownership second = state.candidate(plain, "pgapply orders owner", () -> {});
            Wait.until("the lock to be free", () -> second.tryAcquire() == null);
            BlockingQueue<List<LockHolder>> waits = new LinkedBlockingQueue<>();
            BlockingQueue<EpochFence> fences = new LinkedBlockingQueue<>();

            Thread takeover = new Thread(() -> fences.add(second.takeOver(waits::add)));
            takeover.start();

            assertThat(waits.poll(30, TimeUnit.SECONDS))
                    .extracting(LockHolder::applicationName)
                    .containsExactly("pgapply orders apply");
            assertThat(fences).isEmpty();
            superusers.close();
            EpochFence fence = fences.poll(30, TimeUnit.SECONDS);
            assertThat(fence).isNotNull();
            assertThat(fence.epoch()).isEqualTo(2);
            takeover.join();
            second.close();
        }
    }

    @Test
    void a_takeover_ends_sessions_that_a_broken_off_takeover_has_left() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession old = state.session(state.takeOver());
            // A takeover that raised the epoch and went no further.
            state.database().execute("UPDATE pgapply.epoch SET epoch = epoch + 1");

            EpochFence fence = state.takeOver();

            assertThat(fence.epoch()).isEqualTo(3);
            assertThatThrownBy(() -> old.apply(1, "0/1001")).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void a_lock_session_may_be_cut_while_its_takeover_waits() throws Exception {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            state.session(state.takeOver());
            PostgresConnections plain = TargetState.connections(
                    state.database(),
                    state.plainRole(),
                    state.database().server().port());
            state.database()
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            + " WHERE application_name = 'pgapply orders owner' AND datname = current_database()");
            Ownership second = state.candidate(plain, "pgapply orders owner", () -> {});
            Wait.until("the lock to be free", () -> second.tryAcquire() == null);
            BlockingQueue<List<LockHolder>> waits = new LinkedBlockingQueue<>();
            BlockingQueue<Throwable> ends = new LinkedBlockingQueue<>();
            Thread takeover = new Thread(() -> {
                try {
                    second.takeOver(waits::add);
                } catch (ApplyException e) {
                    ends.add(e);
                }
            });
            takeover.start();
            assertThat(waits.poll(30, TimeUnit.SECONDS)).isNotNull();

            second.close();

            assertThat(ends.poll(30, TimeUnit.SECONDS)).isInstanceOf(ApplyException.class);
            takeover.join();
        }
    }
}
