package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationStream;

/** A target with a synchronous standby: what is confirmed to the publisher must survive a failover to it. */
class SynchronousStandbyIT {

    @Test
    void a_commit_that_waits_for_nobody_is_durable_only_once_the_synchronous_standby_has_flushed_it() throws Exception {
        try (PostgresServer server = PostgresServer.target(RunOptions.targetVersion())
                        .setting("wal_level", "replica")
                        .start();
                TargetState state = TargetState.on(server)) {
            ApplySession session = state.session(state.takeOver());
            state.database()
                    .execute(
                            "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby_one)'",
                            "SELECT pg_reload_conf()");
            Wait.until(
                    "the setting",
                    () -> !String.valueOf(state.database().value("SHOW synchronous_standby_names"))
                            .isEmpty());

            LocalCommit committed = session.apply(1, "0/1001");

            Wait.until(
                    "the server's own flush",
                    () -> state.database()
                            .isTrue("SELECT pg_current_wal_flush_lsn() >= '" + committed.localLsn() + "'"));
            assertThat(session.commit.flushedLsn()).as("no standby yet").isEqualTo(Lsn.ZERO);
            try (Connection walSender = state.connections().openReplication("standby_one");
                    PGReplicationStream standby = walSender
                            .unwrap(PGConnection.class)
                            .getReplicationAPI()
                            .replicationStream()
                            .physical()
                            .withStartPosition(LogSequenceNumber.valueOf(
                                    committed.localLsn().value() & -8192L))
                            .start()) {
                Wait.until(
                        "the standby to stream",
                        () -> state.database()
                                .isTrue("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')"));
                assertThat(session.commit.flushedLsn())
                        .as("standby has not flushed")
                        .isLessThan(committed.localLsn());

                LogSequenceNumber flushed =
                        LogSequenceNumber.valueOf(committed.localLsn().value() + 8192);
                standby.setFlushedLSN(flushed);
                standby.setAppliedLSN(flushed);
                standby.forceUpdateStatus();

                Wait.until(
                        "the standby's answer",
                        () -> !session.commit.flushedLsn().isBefore(committed.localLsn()));
            }
        }
    }
}
