package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code kill -9} at each point in the life of a streamed transaction, of the engine, the target and the publisher in turn. In a short run
 * each point has one victim, by a seed, and each victim at least one point; a long run has all of them, in the modes on and parallel.
 */
class KillPointsIT {

    private static final int ROWS = 2_000;

    private enum Victim {
        ENGINE,
        TARGET,
        PUBLISHER
    }

    /** Where the transaction stands when the victim is killed. */
    private enum Point {
        /** A block has come and its rows cannot be executed to the end. */
        MID_SEGMENT,
        /** A block has come whole, and more will. */
        BETWEEN_SEGMENTS,
        /** It is committed on the publisher, and the target still executes its rows. */
        AFTER_THE_LAST_SEGMENT,
        /** It is committed on the target, and the publisher has not heard of it. */
        BETWEEN_COMMIT_AND_FEEDBACK
    }

    static List<String> modes() {
        return RunOptions.longRun() ? List.of("on", "parallel") : List.of("parallel");
    }

    @ParameterizedTest
    @MethodSource("modes")
    void nothing_is_lost_and_nothing_doubled(String mode) {
        long seed = RunOptions.seed();
        System.out.println("KillPointsIT: seed " + seed + "; again with -Dpgapply.seed=" + seed);
        Random random = new Random(seed);
        try (PostgresServer publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                        .durable()
                        .start();
                PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start()) {
            DatabasePair pair = DatabasePair.on(publisher, target)
                    .onBoth("CREATE TABLE t(id int PRIMARY KEY, v text)", "CREATE TABLE small(id int PRIMARY KEY)")
                    .publish("t", "small");
            try (StreamingEngine engine = StreamingEngine.start(
                    pair, EngineProcess.Builder::ownProcess, "streaming", mode, "batch", "{ max_rows: 200 }")) {
                List<Victim> victims = new ArrayList<>(List.of(Victim.values()));
                Collections.shuffle(victims, random);
                int round = 0;
                for (Point point : Point.values()) {
                    // In turn, so that none is left out.
                    List<Victim> chosen = RunOptions.longRun() ? victims : List.of(victims.get(round % victims.size()));
                    for (Victim victim : chosen) {
                        System.out.println("KillPointsIT: " + mode + ", " + point + ", " + victim);
                        new Round(pair, engine, point, victim, ++round).run();
                    }
                }
            }
        }
    }

    /** One transaction and one kill. */
    private record Round(DatabasePair pair, StreamingEngine engine, Point point, Victim victim, int number) {

        void run() {
            int first = number * 100_000;
            String ours = "id BETWEEN " + first + " AND " + (first + 99_999);
            pair.publisher().execute("INSERT INTO small VALUES (" + first + ")");
            try (TornReadPoller poller =
                    TornReadPoller.start(pair.target(), "SELECT count(*) FROM t WHERE " + ours, "0", ROWS + "")) {
                switch (point) {
                    case MID_SEGMENT -> midSegment(first);
                    case BETWEEN_SEGMENTS -> betweenSegments(first);
                    case AFTER_THE_LAST_SEGMENT -> afterTheLastSegment(first);
                    case BETWEEN_COMMIT_AND_FEEDBACK -> betweenCommitAndFeedback(first);
                }
                pair.publisher().execute("INSERT INTO small VALUES (" + (first + 1) + ")");
                engine.awaitSame("t", "small");
                poller.assertNeverTorn();
            }
            assertThat(pair.target().number("SELECT count(*) FROM t WHERE " + ours))
                    .isIn(0L, (long) ROWS);
            assertThat(engine.spoolFiles()).isEmpty();
        }

        private String rows(int from, int to) {
            return "INSERT INTO t SELECT g, repeat('k', 200) FROM generate_series(" + from + ", " + to + ") g";
        }

        private void midSegment(int first) {
            Session blocker = new Session(pair.target()).execute("LOCK TABLE t IN EXCLUSIVE MODE");
            Session session = engine.begin().execute(rows(first, first + 999));
            engine.awaitSegments(session, 1);
            kill();
            release(blocker);
            finish(session, first);
        }

        private void betweenSegments(int first) {
            Session session = engine.begin().execute(rows(first, first + 999));
            engine.awaitSegments(session, 1);
            kill();
            finish(session, first);
        }

        private void afterTheLastSegment(int first) {
            Session blocker = new Session(pair.target()).execute("LOCK TABLE t IN EXCLUSIVE MODE");
            Session session = engine.begin().execute(rows(first, first + ROWS - 1));
            engine.awaitSegments(session, 1);
            session.commit();
            Wait.until(
                    "the engine to wait for the lock",
                    () -> pair.target()
                            .isTrue("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'pgapply%'"
                                    + " AND wait_event_type = 'Lock')"));
            kill();
            release(blocker);
        }

        /** What no standby has is not told to the publisher. */
        private void betweenCommitAndFeedback(int first) {
            pair.target().execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()");
            Session session = engine.begin().execute(rows(first, first + ROWS - 1));
            engine.awaitSegments(session, 1);
            session.commit();
            Wait.until(
                    "the rows to be visible",
                    Wait.SOON,
                    () -> pair.target().number("SELECT count(*) FROM t WHERE id >= " + first) == ROWS,
                    engine.process()::explain);
            kill();
            pair.target().execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
        }

        private void kill() {
            switch (victim) {
                case ENGINE -> engine.killAndStart();
                case TARGET -> {
                    pair.target().server().killNine();
                    pair.target().server().start();
                }
                case PUBLISHER -> {
                    pair.publisher().server().killNine();
                    pair.publisher().server().start();
                }
            }
        }

        /** A killed server has ended the session. */
        private void release(Session blocker) {
            if (victim != Victim.TARGET) {
                blocker.rollback();
            }
            blocker.close();
        }

        /** A killed publisher has rolled the transaction back: then another one takes its place. */
        private void finish(Session begun, int first) {
            Session session = begun;
            if (victim == Victim.PUBLISHER) {
                session = engine.begin().execute(rows(first, first + 999));
            }
            session.execute(
                    "SAVEPOINT s",
                    rows(first + 50_000, first + 50_999),
                    "ROLLBACK TO s",
                    rows(first + 1_000, first + ROWS - 1));
            session.commit();
        }
    }
}
