package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.TcpProxy;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.origin.OriginStatus;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows and progress in one commit, with and without the right to a native origin. */
class ProgressCommitIT {

    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void rows_and_progress_become_visible_together_and_carry_the_origin(int version) {
        try (TargetState state = TargetState.on(SharedServers.target(version))) {
            ApplySession session = state.session(state.takeOver());

            for (int id = 1; id <= 7; id++) {
                session.apply(id, "0/100" + id);
            }

            assertThat(state.database().number("SELECT count(*) FROM t")).isEqualTo(7);
            assertThat(state.recorded()).isEqualTo(Lsn.parse("0/1007"));
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1007"));
            assertThat(state.database()
                            .value("SELECT remote_commit_time AT TIME ZONE 'UTC' FROM pgapply.origin_status"))
                    .isEqualTo("2026-01-02 03:04:05.678901");
            assertThat(state.database()
                            .column("SELECT DISTINCT roname FROM t, pg_xact_commit_timestamp_origin(t.xmin) c"
                                    + " JOIN pg_replication_origin o ON o.roident = c.roident"))
                    .containsExactly(state.origin());
            assertThat(session.commit.snapshot().nativeOrigin()).isTrue();
        }
    }

    @Test
    void a_role_without_the_right_to_origins_has_the_record_alone() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            EpochFence fence = state.takeOver();
            ApplySession session = state.session(
                    fence,
                    TargetState.connections(
                            state.database(),
                            state.plainRole(),
                            state.database().server().port()));

            session.apply(1, "0/1001");

            assertThat(state.recorded()).isEqualTo(Lsn.parse("0/1001"));
            assertThat(session.commit.snapshot().nativeOrigin()).isFalse();
            assertThat(state.database()
                            .number("SELECT count(*) FROM pg_replication_origin WHERE roname = '" + state.origin()
                                    + "'"))
                    .isZero();
            session.close();
        }
    }

    @Test
    void a_role_that_was_granted_the_functions_has_the_origin_too() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            EpochFence fence = state.takeOver();
            String role = state.plainRole();
            state.database()
                    .execute("DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid::regprocedure FROM pg_proc"
                            + " WHERE proname LIKE 'pg_replication_origin%' LOOP EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO "
                            + role + "', f); END LOOP; END $$");
            ApplySession session = state.session(
                    fence,
                    TargetState.connections(
                            state.database(), role, state.database().server().port()));

            session.apply(1, "0/1001");

            assertThat(session.commit.snapshot().nativeOrigin()).isTrue();
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1001"));
            session.close();
        }
    }

    @Test
    void a_commit_takes_two_exchanges_and_none_for_its_positions() {
        try (TargetState state = TargetState.on(SharedServers.target(18));
                TcpProxy proxy = TcpProxy.to(state.database().server().port())) {
            ApplySession session = state.session(
                    state.takeOver(),
                    TargetState.connections(state.database(), PostgresServer.SUPERUSER, proxy.port()));
            // What is described once may be answered differently: the driver would wait before it asks.
            for (int id = 1; id <= 3; id++) {
                session.apply(id, "0/100" + id);
            }
            session.execute("BEGIN; INSERT INTO public.t VALUES (4, 4)");

            int before = proxy.exchanges();
            session.commit(Lsn.parse("0/1004"));

            assertThat(proxy.exchanges() - before).isEqualTo(2);
        }
    }

    @Test
    void a_commit_is_flushed_once_the_flushed_position_has_reached_it() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession session = state.session(state.takeOver());

            LocalCommit committed = session.apply(1, "0/1001");

            assertThat(committed.localLsn()).isGreaterThan(Lsn.ZERO);
            Wait.until("the WAL writer", () -> !session.commit.flushedLsn().isBefore(committed.localLsn()));
        }
    }

    @Test
    void a_commit_whose_record_ends_with_its_page_counts_as_flushed() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession session = state.session(state.takeOver());
            LocalCommit committed = session.apply(1, "0/1001");
            // Each try fills the page with a message of the length that the last one missed it by.
            long overhead = 400;
            for (int i = 0; i < 500 && committed.localLsn().value() % 8192 != 24; i++) {
                long room = 8192 - committed.localLsn().value() % 8192;
                long length = Math.max(room - overhead, 8);
                session.execute("BEGIN; SELECT pg_logical_emit_message(true, 'it', repeat('x', " + length + "))");
                Lsn before = committed.localLsn();
                committed = session.commit(new Lsn(0x2000 + i));
                boolean crossed = committed.localLsn().value() / 8192 != before.value() / 8192;
                overhead = committed.localLsn().bytesSince(before) - length - (crossed ? 24 : 0);
            }
            Lsn atPageStart = committed.localLsn();

            assertThat(atPageStart.value() % 8192).isEqualTo(24);
            Wait.until(
                    "the commit to be flushed",
                    Duration.ofSeconds(10),
                    () -> !session.commit.flushedLsn().isBefore(atPageStart));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void a_violated_deferred_constraint_speaks_up_before_the_origin_is_touched_and_leaves_the_session_usable(
            int version) {
        try (TargetState state = TargetState.on(SharedServers.target(version))) {
            ApplySession session = state.session(state.takeOver());
            session.apply(1, "0/1001");
            session.execute("BEGIN; INSERT INTO public.t VALUES (2, 1)");

            assertThatThrownBy(() -> session.commit(Lsn.parse("0/1002")))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFLICT));

            session.commit.rollback();
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1001"));
            session.apply(2, "0/1002");
            assertThat(state.database().column("SELECT x FROM t ORDER BY id")).containsExactly("1", "2");
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1002"));
        }
    }

    @Test
    void an_idle_position_is_durable_and_never_goes_back() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession session = state.session(state.takeOver());
            LocalCommit committed = session.apply(1, "0/1001");

            session.commit.recordIdle(Lsn.parse("0/2000"));
            session.commit.recordIdle(Lsn.parse("0/1800"));

            assertThat(session.commit.flushedLsn()).isGreaterThanOrEqualTo(committed.localLsn());
            OriginStatus status = OriginStatus.read(session.connection, state.subid());
            assertThat(status)
                    .isEqualTo(new OriginStatus(Lsn.parse("0/1001"), ApplySession.COMMIT_TIME, Lsn.parse("0/2000")));
            assertThat(status.startLsn()).isEqualTo(Lsn.parse("0/2000"));
        }
    }

    @Test
    void progress_that_is_recorded_already_is_refused_and_nothing_is_doubled() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession session = state.session(state.takeOver());
            session.apply(1, "0/1001");

            assertThatThrownBy(() -> session.apply(2, "0/1001"))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.STATE_MISMATCH));

            session.commit.rollback();
            assertThat(state.database().column("SELECT id FROM t")).containsExactly("1");
        }
    }

    @Test
    void a_record_that_was_removed_by_hand_stops_the_next_commit() {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            ApplySession session = state.session(state.takeOver());
            state.database().execute("DELETE FROM pgapply.origin_status");

            assertThatThrownBy(() -> session.apply(1, "0/1001"))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.STATE_MISMATCH));

            session.commit.rollback();
            assertThat(state.database().number("SELECT count(*) FROM t")).isZero();
        }
    }

    @Test
    void an_origin_that_is_still_in_use_delays_nothing_and_is_taken_later_where_the_record_is() throws Exception {
        try (TargetState state = TargetState.on(SharedServers.target(18))) {
            Database database = state.database();
            EpochFence fence = state.takeOver();
            database.execute("SELECT pg_replication_origin_create('" + state.origin() + "')");
            ApplySession session;
            try (Connection other = database.connect();
                    Statement statement = other.createStatement()) {
                statement.execute("SELECT pg_replication_origin_session_setup('" + state.origin() + "')");
                session = state.session(fence);
                session.apply(1, "0/1001");
                assertThat(session.commit.snapshot().nativeOrigin()).isFalse();
            }
            session.nanos.addAndGet(Duration.ofSeconds(2).toNanos());
            Wait.until("the origin to be free", () -> {
                session.commit.recordIdle(Lsn.parse("0/1001"));
                session.nanos.addAndGet(Duration.ofSeconds(2).toNanos());
                return session.commit.snapshot().nativeOrigin();
            });

            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1001"));

            session.apply(2, "0/1002");
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1002"));
        }
    }
}
