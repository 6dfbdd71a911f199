package dev.pgapply.it.twophase;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.TcpProxy.Moment;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Prepared transactions whose steps on the target are broken off between one and the next. */
class BrokenOffIT {

    private static DatabasePair pair(int publisherVersion) {
        return DatabasePair.shared(publisherVersion, RunOptions.targetVersion())
                .onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)")
                .publish("t");
    }

    /** Keeps the progress from being recorded while it is open. */
    private static final class Hold implements AutoCloseable {
        private final Connection connection;

        /** An idle position that is still to be recorded would wait, too, and all that comes behind it. */
        Hold(DatabasePair pair, TwoPhaseEngine engine) throws SQLException {
            engine.process().awaitCaughtUp();
            connection = pair.target().connect();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT FROM pgapply.origin_status FOR UPDATE");
            }
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void an_engine_killed_between_a_step_and_its_progress_does_it_once(int version) throws SQLException {
        RunOptions.takenByLongRunOnly(version < 18);
        DatabasePair pair = pair(version);
        try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, true)) {
            try (Hold hold = new Hold(pair, engine)) {
                engine.prepare("g1", "INSERT INTO t VALUES (1, 'p')");
                engine.awaitPrepared(1);
                engine.process().killNine();
            }
            engine.process().start();
            engine.process().awaitCaughtUp();
            assertThat(engine.preparedOnTarget()).isEqualTo(1);

            engine.prepare("g2", "INSERT INTO t VALUES (2, 'p')");
            engine.awaitPrepared(2);
            engine.process().awaitCaughtUp();
            try (Hold hold = new Hold(pair, engine)) {
                engine.commitPrepared("g1");
                engine.awaitPrepared(1);
                assertThat(pair.target().column("SELECT id FROM t")).containsExactly("1");
                engine.process().killNine();
            }
            engine.process().start();
            engine.process().awaitCaughtUp();

            try (Hold hold = new Hold(pair, engine)) {
                engine.rollbackPrepared("g2");
                engine.awaitPrepared(0);
                engine.process().killNine();
            }
            engine.process().start();
            pair.publisher().execute("INSERT INTO t VALUES (3, 'n')");
            engine.awaitSame("t");
            assertThat(pair.target().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "3");
        }
    }

    /** PREPARE and COMMIT PREPARED both have happened, and the progress says nothing of either. */
    @Test
    void an_engine_killed_with_both_steps_done_and_neither_recorded_does_neither_again() throws SQLException {
        DatabasePair pair = pair(18);
        try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, true)) {
            try (Hold hold = new Hold(pair, engine)) {
                engine.prepare("g1", "INSERT INTO t VALUES (1, 'p')");
                engine.awaitPrepared(1);
                engine.process().killNine();
                pair.target()
                        .execute("COMMIT PREPARED '"
                                + pair.target()
                                        .value("SELECT gid FROM pg_prepared_xacts"
                                                + " WHERE database = current_database()")
                                + "'");
            }
            engine.commitPrepared("g1");
            engine.process().start();
            engine.awaitSame("t");
            assertThat(pair.target().column("SELECT id FROM t")).containsExactly("1");
        }
    }

    @ParameterizedTest
    @EnumSource(Moment.class)
    void a_connection_cut_around_a_step_doubles_and_loses_nothing(Moment moment) {
        RunOptions.takenByLongRunOnly(moment == Moment.BEFORE);
        DatabasePair pair = pair(18);
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true)) {
            cutAt(engine, "PREPARE TRANSACTION 'pg_gid", moment, () -> engine.prepare("g1", insert(1)));
            engine.awaitPrepared(1);
            cutAt(engine, "COMMIT PREPARED 'pg_gid", moment, () -> engine.commitPrepared("g1"));
            engine.process().awaitCaughtUp();
            engine.prepare("g2", insert(2));
            engine.awaitPrepared(1);
            cutAt(engine, "ROLLBACK PREPARED 'pg_gid", moment, () -> engine.rollbackPrepared("g2"));
            pair.publisher().execute(insert(3));
            engine.awaitSame("t");
            assertThat(pair.target().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "3");
        }
    }

    private static final String STREAMED =
            "INSERT INTO t SELECT g, repeat('s', 200) FROM generate_series(1001, 3000) g";

    private static DatabasePair streaming(DatabasePair pair) {
        pair.publisher().execute("ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
        return pair;
    }

    /** The worker has prepared, and the publisher sends all of it again: a worker would wait for its own rows. */
    @Test
    void one_that_a_worker_has_prepared_without_its_progress_is_not_executed_again() throws SQLException {
        DatabasePair pair = streaming(pair(18));
        try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, true, "streaming", "parallel")) {
            try (Hold hold = new Hold(pair, engine)) {
                engine.prepare("g1", STREAMED);
                engine.awaitPrepared(1);
                assertThat(engine.sentToWorkers()).isEqualTo(1);
                engine.process().killNine();
            }
            engine.process().start();
            engine.process().awaitCaughtUp();
            assertThat(engine.preparedOnTarget()).isEqualTo(1);
            assertThat(engine.sentToWorkers()).isZero();

            try (Hold hold = new Hold(pair, engine)) {
                engine.commitPrepared("g1");
                engine.awaitPrepared(0);
                engine.process().killNine();
            }
            engine.process().start();
            engine.awaitSame("t");
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(2000);
        }
    }

    @ParameterizedTest
    @EnumSource(Moment.class)
    void a_workers_connection_cut_around_its_prepare_doubles_and_loses_nothing(Moment moment) {
        RunOptions.takenByLongRunOnly(moment != Moment.AFTER);
        DatabasePair pair = streaming(pair(18));
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true, "streaming", "parallel")) {
            cutAt(engine, "PREPARE TRANSACTION 'pg_gid", moment, () -> engine.prepare("g1", STREAMED));
            engine.awaitPrepared(1);
            engine.commitPrepared("g1");
            engine.awaitSame("t");
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(2000);
        }
    }

    private static String insert(int id) {
        return "INSERT INTO t VALUES (" + id + ", 'x')";
    }

    private static void cutAt(TwoPhaseEngine engine, String text, Moment moment, Runnable step) {
        int cuts = engine.proxy().cuts();
        engine.proxy().cutAt(text, moment);
        step.run();
        Wait.until("the connection to be cut", () -> engine.proxy().cuts() == cuts + 1);
    }

    @Test
    void engine_and_servers_may_be_killed_between_prepare_and_its_end() {
        try (PostgresServer publisher = PostgresServer.publisher(18).durable().start();
                PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start()) {
            DatabasePair pair = streaming(DatabasePair.on(publisher, target)
                    .onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)")
                    .publish("t"));
            try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, true, "streaming", "parallel")) {
                engine.prepare("g1", insert(1));
                engine.prepare("g2", STREAMED);
                engine.awaitPrepared(2);
                engine.process().killNine();
                engine.process().start();
                target.killNine();
                target.start();
                publisher.killNine();
                publisher.start();
                engine.commitPrepared("g1");
                Wait.until(
                        "row 1 to be visible",
                        Wait.SOON,
                        () -> pair.target().number("SELECT count(*) FROM t") == 1,
                        engine.process()::explain);
                publisher.restart(ShutdownMode.FAST);
                target.restart(ShutdownMode.FAST);
                engine.rollbackPrepared("g2");
                pair.publisher().execute(insert(3));
                engine.awaitSame("t");
            }
        }
    }

    @Test
    void a_commit_of_what_somebody_rolled_back_on_the_target_stops_and_says_so() {
        DatabasePair pair = pair(18);
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true)) {
            engine.prepare("g1", insert(1));
            engine.awaitPrepared(1);
            String gid = pair.target().value("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()");
            pair.target().execute("ROLLBACK PREPARED '" + gid + "'");
            engine.commitPrepared("g1");
            engine.process().awaitError("prepared transaction with identifier \"" + gid + "\" does not exist");
        }
    }

    @Test
    void a_drop_rolls_back_what_is_still_prepared() {
        DatabasePair pair = pair(18);
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true)) {
            engine.prepare("g1", insert(1));
            engine.awaitPrepared(1);
            engine.process().stop();

            EngineCommand drop =
                    EngineCommand.run("drop", "-c", engine.config().file().toString(), pair.name());

            assertThat(drop.exit()).as(drop.output()).isZero();
            assertThat(drop.output()).contains("rolled back");
            assertThat(engine.preparedOnTarget()).isZero();
            assertThat(pair.target().number("SELECT count(*) FROM pgapply.prepared_transaction"))
                    .isZero();
            assertThat(pair.target().number("SELECT count(*) FROM t")).isZero();
        }
    }

    @Test
    void a_target_that_can_prepare_nothing_is_refused_by_check_and_start() {
        try (PostgresServer target = PostgresServer.target(18)
                .setting("max_prepared_transactions", "0")
                .start()) {
            DatabasePair pair = DatabasePair.on(SharedServers.publisher(18), target)
                    .onBoth("CREATE TABLE t(id int PRIMARY KEY)")
                    .publish("t");
            assertRefused(pair, "the target's max_prepared_transactions is 0", "raise max_prepared_transactions");
        }
    }

    @Test
    void a_publisher_that_does_not_send_prepared_transactions_is_refused_by_check_and_start() {
        assertRefused(pair(14), "which does not send prepared transactions", "set two_phase: false");
    }

    private static void assertRefused(DatabasePair pair, String sentence, String hint) {
        try (TwoPhaseEngine engine = TwoPhaseEngine.startRefused(pair)) {
            EngineCommand check = EngineCommand.check(engine.config());
            assertThat(check.exit()).isEqualTo(1);
            assertThat(check.output()).contains(sentence).contains(hint);
            engine.process().awaitError(sentence);
            assertThat(pair.publisher()
                            .number("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + pair.name()
                                    + "'"))
                    .isZero();
        }
    }
}
