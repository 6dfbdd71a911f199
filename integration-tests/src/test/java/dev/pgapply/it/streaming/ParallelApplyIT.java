package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streamed transactions with {@code streaming: parallel}: applied while in progress, in order, and never half. */
class ParallelApplyIT {

    private static final String PARALLEL = "LEADER_SEND_TO_PARALLEL";
    private static final String PARTIAL = "LEADER_PARTIAL_SERIALIZE";

    private static DatabasePair pair(int publisherVersion, String... tables) {
        DatabasePair pair = DatabasePair.shared(publisherVersion, RunOptions.targetVersion());
        for (String table : tables) {
            pair.onBoth("CREATE TABLE " + table + "(id int PRIMARY KEY, v text)");
        }
        return pair.publish(tables);
    }

    private static StreamingEngine start(DatabasePair pair, String... options) {
        return start(pair, UnaryOperator.identity(), options);
    }

    private static StreamingEngine start(
            DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        String[] all = new String[options.length + 2];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "streaming";
        all[options.length + 1] = "parallel";
        return StreamingEngine.start(pair, how, all);
    }

    private static String rows(String table, int from, int to, String letter) {
        return "INSERT INTO " + table + " SELECT g, repeat('" + letter + "', 200) FROM generate_series(" + from + ", "
                + to + ") g";
    }

    /** Case X02 of the collection: subtransaction abort, interleaving, whole abort. */
    @ParameterizedTest
    @ValueSource(ints = {16, 18})
    void interleaved_streams_leave_what_has_committed_in_commit_order(int version) {
        RunOptions.takenByLongRunOnly(version < 18);
        DatabasePair pair = pair(version, "x02");
        try (StreamingEngine engine = start(pair);
                TornReadPoller poller = TornReadPoller.start(
                        pair.target(), "SELECT count(*) FROM x02 WHERE v LIKE 'b%' OR v LIKE 'e%'", "0")) {
            Session first =
                    engine.begin().execute(rows("x02", 1, 500, "a"), "SAVEPOINT s", rows("x02", 1001, 1500, "b"));
            Session second = engine.begin().execute(rows("x02", 2001, 2500, "c"));
            engine.awaitSegments(first, 1);
            engine.awaitSegments(second, 1);

            pair.publisher().execute("INSERT INTO x02 VALUES (9001, 'small')");
            Wait.until("the small one to arrive", () -> pair.target().number("SELECT count(*) FROM x02") == 1);
            first.execute("ROLLBACK TO s", "INSERT INTO x02 SELECT g, 'd' FROM generate_series(3001, 3005) g");
            second.execute(rows("x02", 2501, 3000, "c"));
            Session third = engine.begin().execute(rows("x02", 4001, 4600, "e"));
            engine.awaitSegments(third, 1);
            assertThat(engine.stream(first).path("action").asText()).isEqualTo(PARALLEL);
            assertThat(engine.stream(second).path("worker").asInt()).isEqualTo(2);
            assertThat(engine.stream(third).path("action").asText()).isEqualTo("LEADER_SERIALIZE");
            third.rollback();
            second.commit();
            first.commit();

            engine.awaitSame("x02");
            assertThat(pair.target().number("SELECT count(*) FROM x02")).isEqualTo(505 + 1000 + 1);
            assertThat(pair.target()
                            .isTrue("SELECT t9001 < t2001 AND t2001 < t1 FROM (SELECT " + committedAt(9001) + ", "
                                    + committedAt(2001) + ", " + committedAt(1) + ") x"))
                    .isTrue();
            engine.awaitForgotten(third);
            assertThat(engine.streams()).isEmpty();
            assertThat(engine.spoolFiles()).isEmpty();
            assertThat(engine.streamed(PARALLEL)).isEqualTo(2);
            poller.assertNeverTorn();
        }
    }

    private static String committedAt(int id) {
        return "(SELECT pg_xact_commit_timestamp(xmin) FROM x02 WHERE id = " + id + ") t" + id;
    }

    @Test
    void rows_are_in_the_target_before_their_commit_and_visible_after_it() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "t");
        try (StreamingEngine engine = start(pair)) {
            Session session = engine.begin().execute(rows("t", 1, 2000, "a"));
            engine.awaitSegments(session, 1);
            Wait.until("rows that nobody sees", () -> pair.target().number("SELECT pg_relation_size('t')") > 100_000);
            assertThat(pair.target().number("SELECT count(*) FROM t")).isZero();

            JsonNode workers = engine.process().rest().subscription(pair.name(), "workers");
            assertThat(workers.size()).isEqualTo(2);
            assertThat(workers.get(0).path("worker_type").asText()).isEqualTo("apply");
            assertThat(workers.get(1).path("worker_type").asText()).isEqualTo("parallel apply");
            assertThat(workers.get(1).path("leader_pid").asInt())
                    .isEqualTo(workers.get(0).path("pid").asInt());
            session.commit();

            engine.awaitSame("t");
            JsonNode sessions =
                    engine.process().rest().subscription(pair.name(), "origin").path("sessions");
            assertThat(sessions.size()).isEqualTo(2);
            assertThat(pair.target()
                            .number("SELECT count(*) FROM pgapply.origin_status WHERE apply_session = 1"
                                    + " AND remote_lsn > '0/0'"))
                    .isEqualTo(1);
            Wait.until(
                    "the publisher's own count to be shown",
                    Wait.SOON,
                    () -> engine.metric("pgapply_slot_stream_txns_total") == 1
                            && engine.metric("pgapply_slot_stream_bytes_total") > 100_000,
                    engine.process()::explain);
        }
    }

    /** An ordinary insert, a streamed update of the row in progress, an ordinary update after its commit. */
    @ParameterizedTest
    @CsvSource({"16, parallel", "18, parallel", "18, on", "18, off"})
    void ordinary_and_streamed_changes_of_a_row_keep_their_order(int version, String mode) {
        RunOptions.takenByLongRunOnly(version < 18 || mode.equals("off"));
        DatabasePair pair = pair(version, "o", "big", "late");
        try (StreamingEngine engine = StreamingEngine.start(pair, "streaming", mode);
                Session blocker = new Session(pair.target())) {
            Session slow = engine.begin().execute(rows("big", 1, 1000, "s"));
            for (int i = 1; i <= 20; i++) {
                pair.publisher().execute("INSERT INTO o VALUES (" + i + ", 'inserted')");
                slow.execute(
                        "UPDATE o SET v = 'streamed' WHERE id = " + i,
                        rows("big", i * 10_000 + 1, i * 10_000 + 500, "s"));
            }
            if (!mode.equals("off")) {
                engine.awaitSegments(slow, 2);
            }
            // Whoever applies it is slower than the stream: what comes behind its commit has to wait.
            blocker.execute("LOCK TABLE late IN SHARE MODE");
            slow.execute(rows("late", 1, 3000, "s"));
            pair.publisher().execute("INSERT INTO o VALUES (100, 'before')");
            slow.commit();
            pair.publisher().execute("UPDATE o SET v = v || ' updated'", "DELETE FROM big WHERE id <= 100");
            Wait.until(
                    "the streamed one to wait for the lock",
                    () -> pair.target()
                            .isTrue("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '" + pair.name()
                                    + "' AND application_name LIKE 'pgapply%' AND wait_event_type = 'Lock')"));
            Lsn end = pair.publisher().insertLsn();
            Wait.until(
                    "everything to be received", Wait.SOON, () -> engine.hasReceived(end), engine.process()::explain);
            assertThat(pair.target().number("SELECT count(*) FROM o WHERE v LIKE '%updated'"))
                    .isZero();
            blocker.rollback();

            engine.awaitSame("o", "big", "late");
            assertThat(pair.target().number("SELECT count(*) FROM o WHERE v = 'streamed updated'"))
                    .isEqualTo(20);
            assertThat(engine.streamed(PARALLEL)).isEqualTo(mode.equals("parallel") ? 1 : 0);
        }
    }

    /** The worker stands still because somebody on the target holds a lock; its queue is full in no time. */
    @Test
    void a_full_queue_sends_the_rest_to_a_file_with_the_abort_of_a_subtransaction_begun_before() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "p", "small");
        try (StreamingEngine engine = start(pair, "stream_send_timeout", "200ms");
                Session blocker = new Session(pair.target())) {
            blocker.execute("LOCK TABLE p IN ACCESS EXCLUSIVE MODE");
            Session session =
                    engine.begin().execute(rows("p", 1, 500, "a"), "SAVEPOINT before", rows("p", 1001, 1500, "b"));
            for (int i = 0; i < 8; i++) {
                session.execute("INSERT INTO p SELECT g, repeat('c', 20000) FROM generate_series(" + (10_000 + i * 200)
                        + ", " + (10_199 + i * 200) + ") g");
            }
            engine.awaitAction(session, PARTIAL);
            engine.awaitSpooled(session, 1);
            pair.publisher().execute("INSERT INTO small VALUES (1)");
            Wait.until("the small one to pass", () -> pair.target().number("SELECT count(*) FROM small") == 1);
            session.execute("ROLLBACK TO before", rows("p", 3001, 3500, "d"));
            session.execute(
                    "SAVEPOINT later",
                    rows("p", 4001, 4500, "e"),
                    rows("p", 4501, 5000, "e"),
                    "ROLLBACK TO later",
                    rows("p", 5001, 5500, "f"));
            blocker.rollback();
            session.commit();
            pair.publisher().execute("UPDATE p SET v = 'after' WHERE id = 5001");

            engine.awaitSame("p", "small");
            assertThat(pair.target().number("SELECT count(*) FROM p")).isEqualTo(1500);
            assertThat(engine.streamed(PARTIAL)).isEqualTo(1);
            assertThat(engine.spoolFiles()).isEmpty();
            assertThat(engine.process().log()).contains("will serialize the remaining changes of remote transaction");
        }
    }

    /** A unique key that only the target has: an ordinary transaction waits for a streamed one, which ends behind it in the stream. */
    @Test
    void a_wait_cycle_between_leader_and_worker_is_found_and_the_transaction_spooled() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "u");
        pair.target().execute("CREATE UNIQUE INDEX only_here ON u (left(v, 4))");
        try (StreamingEngine engine = start(pair)) {
            pair.publisher().execute("INSERT INTO u VALUES (0, 'same')");
            engine.awaitSame("u");
            Session session = engine.begin()
                    .execute(
                            "DELETE FROM u WHERE id = 0",
                            "INSERT INTO u SELECT g, lpad(g::text, 4, '0') || repeat('x', 200)"
                                    + " FROM generate_series(1, 2000) g");
            engine.awaitSegments(session, 1);
            Wait.until("rows of the worker", () -> pair.target().number("SELECT pg_relation_size('u')") > 100_000);

            pair.publisher().execute("INSERT INTO u VALUES (9999, '0001')");

            Wait.until(
                    "the wait cycle to be broken",
                    Duration.ofSeconds(5),
                    () -> engine.metric("pgapply_wait_cycles_total") == 1,
                    engine.process()::explain);
            Wait.until(
                    "the ordinary one to be applied",
                    Duration.ofSeconds(20),
                    () -> pair.target().number("SELECT count(*) FROM u WHERE id = 9999") == 1,
                    engine.process()::explain);
            // A publisher streams again only what comes behind the position that it starts from.
            session.execute(
                    rows("u", 5001, 5001, "y"),
                    "INSERT INTO u SELECT g, g || repeat('x', 200)" + " FROM generate_series(6000, 6999) g");
            engine.awaitAction(session, "LEADER_SERIALIZE");
            assertThat(engine.process().log()).contains("wait cycle on the target");
            pair.publisher().execute("DELETE FROM u WHERE id = 9999");
            session.commit();

            engine.awaitSame("u");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    private static String unique(int id, String letters) {
        return "INSERT INTO u VALUES (" + id + ", '" + letters + "')";
    }

    private static String others(int from) {
        return "INSERT INTO u SELECT g, lpad(g::text, 4, '0') || repeat('x', 200) FROM generate_series(" + from + ", "
                + (from + 899) + ") g";
    }

    private static void awaitBytes(DatabasePair pair, int bytes) {
        Wait.until("rows of the workers", () -> pair.target().number("SELECT pg_relation_size('u')") > bytes);
    }

    /** One that has committed waits for one that goes on, which cannot end before the leader reads on. */
    @Test
    void a_wait_cycle_between_two_workers_is_found_and_the_one_in_progress_spooled() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "u");
        pair.target().execute("CREATE UNIQUE INDEX only_here ON u (left(v, 4))");
        try (StreamingEngine engine = start(pair)) {
            Session going = engine.begin().execute(unique(1, "aaaa"), others(1001));
            engine.awaitSegments(going, 1);
            awaitBytes(pair, 100_000);
            Session ending = engine.begin().execute(others(2001), unique(2, "aaaa"), others(3001));
            engine.awaitSegments(ending, 2);

            ending.commit();

            Wait.until(
                    "the one that has committed to be applied",
                    () -> pair.target().number("SELECT count(*) FROM u WHERE id = 2") == 1);
            assertThat(engine.metric("pgapply_wait_cycles_total")).isEqualTo(1);
            pair.publisher().execute("DELETE FROM u WHERE id = 2");
            going.commit();
            engine.awaitSame("u");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    /** The target's own detector ends one of them; sent again, they would end in the same deadlock for ever. */
    @Test
    void two_workers_in_a_deadlock_do_not_meet_again() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "u");
        pair.target().execute("CREATE UNIQUE INDEX only_here ON u (left(v, 4))");
        try (StreamingEngine engine = start(pair, "batch", "{ max_rows: 100 }")) {
            Session one = engine.begin().execute(unique(1, "aaaa"), others(1001));
            Session other = engine.begin().execute(unique(2, "bbbb"), others(2001));
            awaitBytes(pair, 300_000);
            one.execute(unique(3, "bbbb"), others(3001));
            other.execute(unique(4, "aaaa"), others(4001));
            Wait.until(
                    "the deadlock",
                    Wait.SOON,
                    () -> engine.process().log().contains("deadlock detected"),
                    engine.process()::explain);

            // A publisher streams again only what comes behind the position that it starts from.
            one.execute(others(5001));
            other.execute(others(6001));
            Wait.until(
                    "one of them to be spooled",
                    Wait.SOON,
                    () -> isSpooled(engine, one) || isSpooled(engine, other),
                    engine.process()::explain);
            one.execute("DELETE FROM u WHERE id IN (1, 3)");
            one.commit();
            other.commit();

            engine.awaitSame("u");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    private static boolean isSpooled(StreamingEngine engine, Session session) {
        return engine.stream(session).path("action").asText().equals("LEADER_SERIALIZE");
    }

    /** What the target refuses in the order of the stream may be right in the order of commits. */
    @Test
    void a_transaction_that_fails_in_a_worker_is_sent_again_and_applied_when_it_has_committed() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "f");
        pair.target().execute("CREATE UNIQUE INDEX only_here ON f (left(v, 4))");
        try (StreamingEngine engine = start(pair)) {
            pair.publisher().execute("INSERT INTO f VALUES (0, '0500')");
            engine.awaitSame("f");
            Session session = engine.begin()
                    .execute("INSERT INTO f SELECT g, lpad(g::text, 4, '0') || repeat('x', 200)"
                            + " FROM generate_series(1, 2000) g");
            engine.awaitAction(session, "LEADER_SERIALIZE");
            pair.publisher().execute("DELETE FROM f WHERE id = 0");
            session.commit();

            engine.awaitSame("f");
            assertThat(engine.process().log()).contains("only_here");
        }
    }

    @Test
    void a_killed_engine_loses_nothing_in_a_segment_and_behind_the_last_one() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "k");
        try (StreamingEngine engine = start(pair, EngineProcess.Builder::ownProcess)) {
            Session session = engine.begin().execute(rows("k", 1, 1000, "a"));
            engine.awaitSegments(session, 1);
            engine.killAndStart();
            engine.awaitSegments(session, 1);
            session.execute("SAVEPOINT s", rows("k", 1001, 2000, "b"), "ROLLBACK TO s", rows("k", 2001, 3000, "c"));
            session.commit();
            engine.killAndStart();

            engine.awaitSame("k");
            assertThat(pair.target().number("SELECT count(*) FROM k")).isEqualTo(2000);
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @Test
    void thousands_of_subtransactions_half_of_them_rolled_back() {
        DatabasePair pair = pair(RunOptions.publisherVersion(), "sub");
        try (StreamingEngine engine = start(pair)) {
            pair.publisher().execute("INSERT INTO sub SELECT g, 'old' FROM generate_series(1, 100) g");
            Session session = engine.begin().execute(Session.subtransactionsHalfUndone(3000));
            engine.awaitSegments(session, 1);
            session.commit();

            engine.awaitSame("sub");
            assertThat(pair.target().number("SELECT count(*) FROM sub")).isEqualTo(1600);
            assertThat(engine.streamed(PARALLEL)).isEqualTo(1);
        }
    }

    @Test
    void an_older_publisher_streams_to_the_spool() {
        DatabasePair pair = pair(15, "old");
        try (StreamingEngine engine = start(pair)) {
            Session session = engine.begin().execute(rows("old", 1, 1000, "a"));
            engine.awaitAction(session, "LEADER_SERIALIZE");
            session.commit();

            engine.awaitSame("old");
            String sentence = "streaming = parallel needs a newer publisher than PostgreSQL 15; on is used";
            assertThat(engine.process().log()).contains(sentence);
            assertThat(EngineCommand.check(engine.process().config()).output()).contains(sentence);
        }
    }
}
