package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.TcpProxy;
import dev.pgapply.it.support.TcpProxy.Moment;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.EpochFence;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A connection that is lost around COMMIT, while the old backend goes on working: the record tells what happened, and nothing is doubled. */
class UnknownCommitIT {

    static Stream<Arguments> versions_and_moments() {
        return Stream.of(15, 18)
                .flatMap(version -> Stream.of(Moment.values()).map(moment -> Arguments.of(version, moment)));
    }

    @ParameterizedTest
    @MethodSource("versions_and_moments")
    void the_record_tells_whether_the_lost_commit_happened(int version, Moment moment) {
        PostgresServer server = SharedServers.target(version);
        try (TargetState state = TargetState.on(server);
                TcpProxy proxy = TcpProxy.to(server.port())) {
            ApplySession session = state.session(
                    state.takeOver(),
                    TargetState.connections(state.database(), PostgresServer.SUPERUSER, proxy.port()));
            proxy.cutAt("pg_replication_origin_xact_setup", moment);

            assertThatThrownBy(() -> session.apply(1, "0/1001"))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONNECTION));

            assertThat(proxy.cuts()).isEqualTo(1);
            ApplySession next = state.session(state.takeOver());
            boolean happened = next.commit.remoteLsn().equals(Lsn.parse("0/1001"));
            assertThat(happened).isEqualTo(moment != Moment.BEFORE);
            assertThat(state.database().number("SELECT count(*) FROM t")).isEqualTo(happened ? 1 : 0);
            if (!happened) {
                next.apply(1, "0/1001");
            }
            next.apply(2, "0/1002");
            assertThat(state.database().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "2");
            assertThat(state.nativeOrigin()).isEqualTo(Lsn.parse("0/1002"));
        }
    }

    @Test
    void a_backend_that_works_on_behind_a_lost_connection_is_ended_before_the_record_is_read() throws Exception {
        PostgresServer server = SharedServers.target(18);
        try (TargetState state = TargetState.on(server);
                TcpProxy proxy = TcpProxy.to(server.port())) {
            ApplySession session = state.session(
                    state.takeOver(),
                    TargetState.connections(state.database(), PostgresServer.SUPERUSER, proxy.port()));
            // The commit comes to a backend that is still busy: it would commit as soon as the lock is gone.
            try (var blocker = state.database().connect();
                    var statement = blocker.createStatement()) {
                blocker.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (1, 1)");
                Thread applying = new Thread(() -> assertThatThrownBy(
                                () -> session.execute(
                                        "BEGIN; INSERT INTO public.t VALUES (1, 1); UPDATE pgapply.origin_status SET remote_lsn = '0/1001'; COMMIT"))
                        .isInstanceOf(IllegalStateException.class));
                applying.start();
                Wait.until(
                        "the backend to wait for the lock",
                        () -> state.database()
                                .isTrue(
                                        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
                                                + " AND application_name = 'pgapply orders apply' AND wait_event_type = 'Lock')"));
                proxy.pause();

                EpochFence fence = state.takeOver();
                blocker.rollback();

                ApplySession next = state.session(fence);
                assertThat(next.commit.remoteLsn()).isEqualTo(Lsn.ZERO);
                next.apply(1, "0/1001");
                assertThat(state.database().column("SELECT id FROM t")).containsExactly("1");
                proxy.resume();
                applying.join();
            }
        }
    }
}
