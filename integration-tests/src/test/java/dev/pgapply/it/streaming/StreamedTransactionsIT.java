package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streamed transactions of each publisher: {@code streaming: on}. */
class StreamedTransactionsIT {

    /** So much is streamed of a transaction with 500 rows of 200 bytes, at least. */
    private static final long SOME = 20_000;

    /** All releases in a long run: the smoke scenario has shown each already. */
    static IntStream oldestAndNewest() {
        return RunOptions.longRun() ? IntStream.rangeClosed(14, 18) : IntStream.of(14, 18);
    }

    /** For what the first stream of each release has shown to be the same. */
    static IntStream newest() {
        return RunOptions.longRun() ? IntStream.rangeClosed(14, 18) : IntStream.of(18);
    }

    private static DatabasePair pair(int publisherVersion) {
        return DatabasePair.shared(publisherVersion, RunOptions.targetVersion());
    }

    private static String rows(String table, int from, int to, String letter) {
        return "INSERT INTO " + table + " SELECT g, repeat('" + letter + "', 200) FROM generate_series(" + from + ", "
                + to + ") g";
    }

    /** Case X02 of the collection: subtransaction abort, interleaving, whole abort. */
    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void interleaved_streams_leave_what_has_committed_in_commit_order(int version) {
        RunOptions.takenByLongRunOnly(version > 14 && version < 18);
        DatabasePair pair = pair(version)
                .onBoth("CREATE TABLE x02(id int PRIMARY KEY, v text)")
                .publish("x02");
        try (StreamingEngine engine = StreamingEngine.start(pair);
                TornReadPoller poller = TornReadPoller.start(
                        pair.target(), "SELECT count(*) FROM x02 WHERE v LIKE 'b%' OR v LIKE 'e%'", "0")) {
            Session first =
                    engine.begin().execute(rows("x02", 1, 500, "a"), "SAVEPOINT s", rows("x02", 1001, 1500, "b"));
            Session second = engine.begin().execute(rows("x02", 2001, 2500, "c"));
            engine.awaitSpooled(first, 2 * SOME);
            engine.awaitSpooled(second, SOME);

            pair.publisher().execute("INSERT INTO x02 VALUES (9001, 'small')");
            Wait.until("the small one to arrive", () -> pair.target().number("SELECT count(*) FROM x02") == 1);
            first.execute("ROLLBACK TO s", "INSERT INTO x02 SELECT g, 'd' FROM generate_series(3001, 3005) g");
            second.execute(rows("x02", 2501, 3000, "c"));
            Session third = engine.begin().execute(rows("x02", 4001, 4600, "e"));
            engine.awaitSpooled(third, SOME);
            third.rollback();
            second.commit();
            first.commit();

            engine.awaitSame("x02");
            assertThat(pair.target().number("SELECT count(*) FROM x02")).isEqualTo(505 + 1000 + 1);
            assertThat(pair.target()
                            .isTrue("SELECT t9001 < t2001 AND t2001 <= t1 FROM (SELECT " + committedAt(9001) + ", "
                                    + committedAt(2001) + ", " + committedAt(1) + ") x"))
                    .isTrue();
            assertThat(engine.streamedTransactions()).isGreaterThanOrEqualTo(3);
            engine.awaitForgotten(third);
            assertThat(engine.streams()).isEmpty();
            assertThat(engine.spoolFiles()).isEmpty();
            poller.assertNeverTorn();
        }
    }

    private static String committedAt(int id) {
        return "(SELECT pg_xact_commit_timestamp(xmin) FROM x02 WHERE id = " + id + ") t" + id;
    }

    @ParameterizedTest
    @MethodSource("oldestAndNewest")
    void a_table_altered_in_a_stream_is_altered_for_others_when_that_has_committed(int version) {
        DatabasePair pair = pair(version);
        pair.publisher().execute("CREATE TABLE ddl(id int PRIMARY KEY, v text)");
        pair.target().execute("CREATE TABLE ddl(w text, v text, id int PRIMARY KEY, x int)");
        pair.onBoth("CREATE TABLE other(id int PRIMARY KEY)").publish("ddl", "other");
        try (StreamingEngine engine = StreamingEngine.start(pair)) {
            pair.publisher().execute(rows("ddl", 1, 10, "o"));
            Session session = engine.begin()
                    .execute(
                            rows("ddl", 101, 600, "a"),
                            "SAVEPOINT s",
                            "ALTER TABLE ddl ADD COLUMN x int",
                            "INSERT INTO ddl SELECT g, repeat('b', 200), g FROM generate_series(601, 1100) g");
            engine.awaitSpooled(session, 2 * SOME);
            pair.publisher().execute("INSERT INTO other VALUES (1)");
            session.execute(
                    "ROLLBACK TO s",
                    rows("ddl", 1101, 1600, "c"),
                    "ALTER TABLE ddl ADD COLUMN w text",
                    "INSERT INTO ddl SELECT g, repeat('d', 200), 'w' || g FROM generate_series(1601, 2100) g");
            engine.awaitSpooled(session, 2 * SOME);
            session.commit();
            pair.publisher()
                    .execute(
                            "INSERT INTO ddl VALUES (3001, 'after', 'w3001')", "UPDATE ddl SET w = 'new' WHERE id = 5");

            engine.process().awaitCaughtUp();
            TableComparison.of(pair).assertSameRows("SELECT id, v, w FROM ddl");
            assertThat(pair.target().number("SELECT count(*) FROM ddl WHERE x IS NOT NULL"))
                    .isZero();
            assertThat(engine.streamedTransactions()).isPositive();
        }
    }

    @ParameterizedTest
    @MethodSource("newest")
    void an_alter_that_is_rolled_back_with_its_stream_leaves_no_trace(int version) {
        DatabasePair pair = pair(version);
        pair.onBoth("CREATE TABLE ddl(id int PRIMARY KEY, v text)").publish("ddl");
        try (StreamingEngine engine = StreamingEngine.start(pair)) {
            pair.publisher().execute(rows("ddl", 1, 10, "o"));
            Session session = engine.begin()
                    .execute(
                            rows("ddl", 101, 600, "a"),
                            "ALTER TABLE ddl ADD COLUMN w text",
                            "INSERT INTO ddl SELECT g, repeat('b', 200), 'w' FROM generate_series(601, 1100) g");
            engine.awaitSpooled(session, 2 * SOME);

            session.rollback();
            pair.publisher().execute("INSERT INTO ddl VALUES (3001, 'after')");

            engine.awaitSame("ddl");
            engine.awaitForgotten(session);
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("newest")
    void an_alter_that_is_rolled_back_to_a_savepoint_leaves_no_trace(int version) {
        DatabasePair pair = pair(version);
        pair.onBoth("CREATE TABLE ddl(id int PRIMARY KEY, v text)").publish("ddl");
        try (StreamingEngine engine = StreamingEngine.start(pair)) {
            pair.publisher().execute(rows("ddl", 1, 10, "o"));
            Session session = engine.begin()
                    .execute(
                            rows("ddl", 101, 600, "a"),
                            "SAVEPOINT s",
                            "ALTER TABLE ddl ADD COLUMN w text",
                            "INSERT INTO ddl SELECT g, repeat('b', 200), 'w' FROM generate_series(601, 1100) g");
            engine.awaitSpooled(session, 2 * SOME);

            session.execute("ROLLBACK TO s");
            session.commit();
            pair.publisher().execute("INSERT INTO ddl VALUES (3001, 'after')");

            engine.awaitSame("ddl");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("newest")
    void thousands_of_subtransactions_half_of_them_rolled_back(int version) {
        DatabasePair pair = pair(version)
                .onBoth("CREATE TABLE sub(id int PRIMARY KEY, v text)")
                .publish("sub");
        try (StreamingEngine engine = StreamingEngine.start(pair)) {
            pair.publisher().execute("INSERT INTO sub SELECT g, 'old' FROM generate_series(1, 100) g");
            Session session = engine.begin().execute(Session.subtransactionsHalfUndone(6000));
            engine.awaitSpooled(session, SOME);
            session.commit();

            engine.awaitSame("sub");
            assertThat(pair.target().number("SELECT count(*) FROM sub")).isEqualTo(3100);
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }
}
