package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** Two engines on one subscription: one applies, one stands by. */
class StandbyIT {

    private static Scenario following() {
        Scenario scenario = Scenario.shared().ownProcess();
        scenario.onBoth("CREATE TABLE log(v int)").publish("log").start();
        return scenario;
    }

    @Test
    void a_second_engine_stands_by_and_takes_over_when_the_first_is_gone() {
        try (Scenario scenario = following();
                EngineProcess second =
                        EngineProcess.start(scenario.engine().config().forAnotherEngine())) {
            second.awaitStatus("standby");
            assertThat(second.rest().get("/health/ready").status()).isEqualTo(200);
            assertThat(second.rest().command(scenario.slot(), "disable").status())
                    .isEqualTo(409);
            scenario.publisher().execute("INSERT INTO log VALUES (1)");
            scenario.assertSame("log");

            scenario.engine().killNine();
            scenario.publisher().execute("INSERT INTO log VALUES (2)");

            second.awaitStreaming();
            second.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSame("log");
            assertThat(second.log()).contains("pid");
        }
    }

    @Test
    void a_frozen_engine_that_lost_its_lock_session_cannot_commit_after_it_goes_on() throws SQLException {
        try (Scenario scenario = following();
                EngineProcess second =
                        EngineProcess.start(scenario.engine().config().forAnotherEngine())) {
            second.awaitStatus("standby");
            EngineProcess first = scenario.engine();
            try (Connection blocker = scenario.target().connect();
                    Statement statement = blocker.createStatement()) {
                blocker.setAutoCommit(false);
                statement.execute("LOCK TABLE log");
                scenario.publisher().execute("INSERT INTO log SELECT generate_series(1, 100)");
                Wait.until(
                        "the first engine to wait for the lock",
                        () -> scenario.target()
                                        .number(
                                                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                                        + " AND datname = current_database() AND application_name LIKE 'pgapply %'")
                                > 0);

                first.pause();
                endLockSession(scenario.target());
                blocker.rollback();
            }

            second.awaitStreaming();
            scenario.publisher().execute("INSERT INTO log SELECT generate_series(101, 200)");
            second.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSame("log");
            first.resume();
            first.awaitStatus("standby");
            scenario.publisher().execute("INSERT INTO log VALUES (201)");
            second.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSame("log");
        }
    }

    /** The main advisory lock is the one that is held exclusively; sessions under an epoch share theirs. */
    private static void endLockSession(Database target) {
        long ended =
                target.number("SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype ="
                        + " 'advisory' AND mode = 'ExclusiveLock' AND granted AND database = (SELECT oid FROM pg_database"
                        + " WHERE datname = current_database())) t");
        assertThat(ended).isEqualTo(1);
    }
}
