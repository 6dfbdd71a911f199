package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.EpochFence;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever aborts a transaction behind pg_replication_origin_xact_setup moves the origin from PostgreSQL 16 on although the rows are gone
 * (SEMANTICS 1.7). The record does not move, and the next start puts the origin back.
 */
class AbortedTransactionIT {

    private static final Lsn BEFORE = Lsn.parse("0/1000");
    private static final Lsn LOST = Lsn.parse("0/2000");

    /** How a transaction ends that has inserted row 2 and sent xact_setup for it. */
    enum Abort {
        ROLLBACK {
            @Override
            void end(TargetState state, ApplySession session) {
                session.execute("ROLLBACK");
            }
        },
        COMMIT_FAILS_ON_A_DEFERRED_CONSTRAINT {
            @Override
            void end(TargetState state, ApplySession session) {
                session.execute("INSERT INTO public.t VALUES (3, 1)");
                assertThatThrownBy(() -> session.execute("COMMIT")).hasMessageContaining("duplicate key");
            }
        },
        STATEMENT_ERROR {
            @Override
            void end(TargetState state, ApplySession session) {
                assertThatThrownBy(() -> session.execute("SELECT 1/0")).hasMessageContaining("division");
                session.execute("ROLLBACK");
            }
        },
        BACKEND_TERMINATED {
            @Override
            void end(TargetState state, ApplySession session) {
                state.database()
                        .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND application_name = 'pgapply orders apply'");
            }
        },
        CLIENT_VANISHES {
            @Override
            void end(TargetState state, ApplySession session) {
                session.close();
            }
        },
        ROLLBACK_TO_SAVEPOINT {
            @Override
            void end(TargetState state, ApplySession session) {
                session.execute("SAVEPOINT s; INSERT INTO public.t VALUES (3, 3)");
                session.execute("ROLLBACK TO s");
                session.close();
            }
        };

        abstract void end(TargetState state, ApplySession session);
    }

    static Stream<Arguments> versions_and_aborts() {
        return Stream.of(15, 16, 17, 18)
                .flatMap(version -> Stream.of(Abort.values()).map(abort -> Arguments.of(version, abort)));
    }

    @ParameterizedTest
    @MethodSource("versions_and_aborts")
    void an_abort_behind_xact_setup_loses_nothing_and_the_next_start_puts_the_origin_back(int version, Abort abort) {
        try (TargetState state = TargetState.on(SharedServers.target(version))) {
            ApplySession session = state.session(state.takeOver());
            session.apply(1, BEFORE.toString());
            session.execute("BEGIN; INSERT INTO public.t VALUES (2, 2); UPDATE pgapply.origin_status SET remote_lsn = '"
                    + LOST + "'; SELECT pg_replication_origin_xact_setup('" + LOST + "', now())");

            abort.end(state, session);
            session.close();

            String sessionsLeft = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND application_name = 'pgapply orders apply'";
            Wait.until("the session to end", () -> state.database().number(sessionsLeft) == 0);
            assertThat(state.nativeOrigin()).as("origin moved by the abort").isEqualTo(version >= 16 ? LOST : BEFORE);
            assertThat(state.recorded()).isEqualTo(BEFORE);
            EpochFence fence = state.takeOver();
            ApplySession next = state.session(fence);
            assertThat(next.commit.snapshot().nativeOrigin()).isTrue();
            assertThat(state.nativeOrigin()).as("origin put back").isEqualTo(BEFORE);
            next.apply(2, LOST.toString());
            assertThat(state.database().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "2");
            assertThat(state.nativeOrigin()).isEqualTo(LOST);
            assertThat(state.recorded()).isEqualTo(LOST);
        }
    }
}
