package dev.pgapply.it.twophase;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transactions that the publisher prepares, with {@code two_phase: true} and without. */
class PreparedTransactionsIT {

    private static DatabasePair pair(int publisherVersion) {
        return DatabasePair.shared(publisherVersion, RunOptions.targetVersion());
    }

    /** Case X03 of the collection: two-phase commit with restarts, names with a quote, a name used again. */
    @ParameterizedTest
    @CsvSource({"15, true", "18, true", "15, false", "18, false"})
    void prepared_transactions_over_kills_of_the_engine(int version, boolean twoPhase) {
        RunOptions.takenByLongRunOnly((version < 18) == twoPhase);
        DatabasePair pair = pair(version)
                .onBoth("CREATE TABLE x03(id int PRIMARY KEY, v text)")
                .publish("x03");
        try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, twoPhase)) {
            engine.prepare("g1", "INSERT INTO x03 VALUES (1, 'p')");
            engine.prepare("g2", "INSERT INTO x03 VALUES (2, 'p')");
            pair.publisher().execute("INSERT INTO x03 VALUES (3, 'n')");
            engine.process().awaitCaughtUp();
            assertThat(pair.target().column("SELECT id FROM x03")).containsExactly("3");
            assertThat(engine.preparedOnTarget()).isEqualTo(twoPhase ? 2 : 0);
            engine.killAndStart();

            engine.commitPrepared("g1");
            engine.rollbackPrepared("g2");
            engine.process().awaitCaughtUp();
            assertThat(pair.target().column("SELECT id FROM x03 ORDER BY id")).containsExactly("1", "3");
            engine.killAndStart();

            engine.prepare("g2", "INSERT INTO x03 VALUES (4, 'p')");
            engine.commitPrepared("g2");
            engine.awaitSame("x03");
            assertThat(pair.target().column("SELECT id FROM x03 ORDER BY id")).containsExactly("1", "3", "4");
        }
    }

    @Test
    void an_empty_one_is_prepared_and_committed() {
        DatabasePair pair = pair(15).onBoth("CREATE TABLE t(id int PRIMARY KEY)", "CREATE TABLE unpublished(id int)")
                .publish("t");
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true)) {
            engine.prepare("empty", "INSERT INTO unpublished VALUES (1)");
            engine.awaitPrepared(1);
            engine.commitPrepared("empty");
            engine.prepare("empty", "INSERT INTO unpublished VALUES (2)");
            engine.rollbackPrepared("empty");
            pair.publisher().execute("INSERT INTO t VALUES (1)");
            engine.awaitSame("t");
        }
    }

    @ParameterizedTest
    @CsvSource({"15, on", "18, on", "16, parallel", "18, parallel"})
    void a_streamed_one_is_prepared_when_it_is_prepared_there(int version, String streaming) {
        RunOptions.takenByLongRunOnly(version == 16 || (version == 18 && streaming.equals("on")));
        DatabasePair pair = pair(version)
                .onBoth("CREATE TABLE big(id int PRIMARY KEY, v text)")
                .publish("big");
        pair.publisher().execute("ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
        try (TwoPhaseEngine engine = TwoPhaseEngine.startProcess(pair, true, "streaming", streaming)) {
            engine.prepare(
                    "big",
                    "INSERT INTO big SELECT g, repeat('a', 200) FROM generate_series(1, 2000) g",
                    "SAVEPOINT s",
                    "INSERT INTO big SELECT g, repeat('b', 200) FROM generate_series(2001, 4000) g",
                    "ROLLBACK TO s",
                    "UPDATE big SET v = 'u' WHERE id % 7 = 0");
            engine.prepare("other", "INSERT INTO big SELECT g, repeat('c', 200) FROM generate_series(5001, 7000) g");
            engine.awaitPrepared(2);
            assertThat(pair.publisher()
                            .number("SELECT stream_txns FROM pg_stat_replication_slots WHERE slot_name = '"
                                    + pair.name() + "'"))
                    .isPositive();
            assertThat(pair.target().number("SELECT count(*) FROM big")).isZero();
            pair.publisher().execute("INSERT INTO big VALUES (9001, 'after')");
            Wait.until("the ordinary one", () -> pair.target().number("SELECT count(*) FROM big") == 1);
            assertThat(engine.sentToWorkers()).isEqualTo("parallel".equals(streaming) ? 2 : 0);
            engine.killAndStart();

            engine.commitPrepared("big");
            engine.rollbackPrepared("other");
            engine.awaitSame("big");
            assertThat(pair.target().number("SELECT count(*) FROM big")).isEqualTo(2001);
        }
    }

    /** Neither path of the whole-row search may leave a temporary table in a transaction that is prepared. */
    @Test
    void rows_found_by_all_their_columns_are_changed_in_one_that_is_prepared() {
        DatabasePair pair = pair(18).onBoth(
                        "CREATE TABLE full_row(a int, b text)", "CREATE TABLE wide(id int PRIMARY KEY, v text)");
        pair.publisher().execute("ALTER TABLE full_row REPLICA IDENTITY FULL");
        pair.publish("full_row", "wide");
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true, "batch", "{ max_rows: 100 }")) {
            pair.publisher()
                    .execute(
                            "INSERT INTO full_row SELECT g % 50, nullif(g % 3, 0)::text FROM generate_series(1, 500) g",
                            "INSERT INTO wide SELECT g, 'x' FROM generate_series(1, 1000) g");
            engine.prepare(
                    "set",
                    "UPDATE full_row SET b = 'u' WHERE a < 20",
                    "DELETE FROM full_row WHERE a = 30",
                    "INSERT INTO wide SELECT g, 'y' FROM generate_series(1001, 2000) g",
                    "UPDATE wide SET v = 'z' WHERE id % 2 = 0");
            engine.awaitPrepared(1);
            engine.prepare("second", "UPDATE full_row SET b = 'w' WHERE a = 40");
            engine.awaitPrepared(2);
            pair.publisher().execute("UPDATE full_row SET b = 'v' WHERE a = 45");
            engine.commitPrepared("second");
            engine.commitPrepared("set");
            engine.awaitSame("wide");
            engine.process().awaitCaughtUp();
            assertThat(pair.target().column("SELECT a || ' ' || coalesce(b, '-') FROM full_row ORDER BY 1"))
                    .isEqualTo(pair.publisher().column("SELECT a || ' ' || coalesce(b, '-') FROM full_row ORDER BY 1"));
            assertThat(pair.target()
                            .number("SELECT count(*) FROM pg_class WHERE relnamespace = 'pgapply'::regnamespace"
                                    + " AND relname LIKE 'pg\\_gid%'"))
                    .isZero();
        }
    }

    /** Nobody knows whether it will be prepared when a worker begins it: neither may leave a temporary table, or one that stays. */
    @Test
    void rows_found_by_all_their_columns_are_changed_by_a_worker_in_one_that_is_prepared_and_one_that_is_not() {
        DatabasePair pair = pair(18).onBoth(
                        "CREATE TABLE full_row(a int, b text)", "CREATE TABLE wide(id int PRIMARY KEY, v text)");
        pair.publisher().execute("ALTER TABLE full_row REPLICA IDENTITY FULL");
        pair.publisher().execute("ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
        pair.publish("full_row", "wide");
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, true, "streaming", "parallel")) {
            pair.publisher()
                    .execute(
                            "INSERT INTO full_row SELECT g % 50, nullif(g % 3, 0)::text FROM generate_series(1, 150) g");
            engine.process().awaitCaughtUp();
            engine.prepare(
                    "streamed",
                    "INSERT INTO wide SELECT g, repeat('y', 100) FROM generate_series(1, 2000) g",
                    "SAVEPOINT s",
                    "UPDATE full_row SET b = 'undone' WHERE a < 10",
                    "ROLLBACK TO s",
                    "UPDATE full_row SET b = 'u' WHERE a < 20",
                    "DELETE FROM full_row WHERE a = 30");
            engine.awaitPrepared(1);
            pair.publisher()
                    .execute(
                            "BEGIN",
                            "INSERT INTO wide SELECT g, repeat('z', 100) FROM generate_series(3001, 5000) g",
                            "UPDATE full_row SET b = 'w' WHERE a = 40",
                            "COMMIT");
            engine.commitPrepared("streamed");

            engine.awaitSame("wide");
            assertThat(pair.target().column("SELECT a || ' ' || coalesce(b, '-') FROM full_row ORDER BY 1"))
                    .isEqualTo(pair.publisher().column("SELECT a || ' ' || coalesce(b, '-') FROM full_row ORDER BY 1"));
            assertThat(engine.sentToWorkers()).isEqualTo(2);
            assertThat(pair.target()
                            .number("SELECT count(*) FROM pg_class WHERE relnamespace = 'pgapply'::regnamespace"
                                    + " AND relname LIKE 'pg\\_gid%'"))
                    .isZero();
        }
    }

    @Test
    void one_that_was_prepared_before_two_phase_was_enabled_comes_whole_at_its_commit() {
        DatabasePair pair =
                pair(18).onBoth("CREATE TABLE t(id int PRIMARY KEY)").publish("t");
        try (TwoPhaseEngine engine = TwoPhaseEngine.start(pair, false)) {
            engine.prepare("early", "INSERT INTO t VALUES (1)");
            engine.prepare("undone", "INSERT INTO t VALUES (2)");
            pair.publisher().execute("INSERT INTO t VALUES (3)");
            engine.process().awaitCaughtUp();
            engine.restartWith(true);
            engine.process().awaitStreaming();
            assertThat(pair.target().value("SELECT two_phase_state FROM pgapply.subscription"))
                    .isEqualTo("e");
            engine.prepare("late", "INSERT INTO t VALUES (4)");
            engine.awaitPrepared(1);

            engine.rollbackPrepared("undone");
            engine.commitPrepared("early");
            engine.commitPrepared("late");
            engine.awaitSame("t");

            engine.restartWith(false);
            engine.process().awaitError("sends prepared transactions (two_phase)");
        }
    }
}
