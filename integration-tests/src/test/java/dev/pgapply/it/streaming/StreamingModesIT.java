package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One workload, one engine, three subscriptions into three databases: {@code streaming} off, on and parallel. More streams than workers,
 * ordinary transactions between, nested savepoints, whole aborts, DDL inside streams, prepared transactions. All publishers and settings
 * in a long run, some of them in a short one.
 */
class StreamingModesIT {

    private static final List<String> MODES = List.of("off", "on", "parallel");
    private static final int CLIENTS = 4;
    private static final int KEYS_OF_A_CLIENT = 1000;
    private static final Duration LONG_ENOUGH = Duration.ofMinutes(3);

    static Stream<Arguments> publishers() {
        if (!RunOptions.longRun()) {
            return Stream.of(
                    Arguments.of(14, "buffered", false),
                    Arguments.of(16, "buffered", true),
                    Arguments.of(18, "immediate", true));
        }
        return IntStream.rangeClosed(14, 18)
                .boxed()
                .flatMap(version -> Stream.of("buffered", "immediate")
                        .filter(streaming -> version >= 16 || "buffered".equals(streaming))
                        .flatMap(streaming -> Stream.of(false, true)
                                .filter(twoPhase -> version >= 15 || !twoPhase)
                                .map(twoPhase -> Arguments.of(version, streaming, twoPhase))));
    }

    /** Where {@code two_phase} is on, too, some transactions are prepared before they end. */
    @ParameterizedTest
    @MethodSource("publishers")
    void all_modes_give_the_same_tables(int version, String streaming, boolean twoPhase) {
        long seed = RunOptions.seed();
        System.out.println("StreamingModesIT: seed " + seed + "; again with -Dpgapply.seed=" + seed);
        Random random = new Random(seed);
        try (DatabasePair pair = DatabasePair.shared(version, RunOptions.targetVersion())) {
            List<Database> targets = new ArrayList<>();
            for (String mode : MODES) {
                targets.add(pair.target().server().createDatabase(pair.name() + "_" + mode));
            }
            try {
                prepare(pair, targets, streaming);
                run(pair, targets, random, twoPhase);
            } finally {
                targets.forEach(Database::drop);
            }
        }
    }

    private static void prepare(DatabasePair pair, List<Database> targets, String streaming) {
        pair.publisher().execute("CREATE TABLE r(id int PRIMARY KEY, v int, w text)");
        targets.forEach(target -> target.execute("CREATE TABLE r(id int PRIMARY KEY, v int, w text)"));
        for (int i = 0; i < CLIENTS; i++) {
            pair.publisher().execute("CREATE TABLE d" + i + "(id int PRIMARY KEY, v text)");
            String columns = "(id int PRIMARY KEY, v text, c1 int, c2 int, c3 int)";
            for (Database target : targets) {
                target.execute("CREATE TABLE d" + i + columns);
            }
        }
        pair.publishAll();
        String setting = "immediate".equals(streaming)
                ? "debug_logical_replication_streaming = immediate"
                : "logical_decoding_work_mem = '64kB'";
        pair.publisher().execute("ALTER DATABASE " + pair.name() + " SET " + setting);
    }

    private static void run(DatabasePair pair, List<Database> targets, Random random, boolean twoPhase) {
        EngineConfig.Builder builder = EngineConfig.subscription(pair.name() + "_" + MODES.get(0));
        for (int i = 0; i < MODES.size(); i++) {
            EngineConfig.Builder one = i == 0 ? builder : builder.and(pair.name() + "_" + MODES.get(i));
            EngineConfig.Builder unused = one.from(pair.publisher())
                    .to(targets.get(i))
                    .publications(DatabasePair.PUBLICATION)
                    .option("streaming", MODES.get(i))
                    .option("two_phase", String.valueOf(twoPhase));
        }
        try (EngineProcess engine = EngineProcess.start(builder.build())) {
            for (String mode : MODES) {
                engine.awaitStatus(pair.name() + "_" + mode, LONG_ENOUGH, Set.of("streaming"));
            }
            work(pair, random, twoPhase);
            Lsn end = pair.publisher().insertLsn();
            for (int i = 0; i < MODES.size(); i++) {
                engine.awaitApplied(pair.name() + "_" + MODES.get(i), end, LONG_ENOUGH);
                TableComparison comparison = TableComparison.of(pair.publisher(), targets.get(i));
                comparison.assertSame("r");
                for (int client = 0; client < CLIENTS; client++) {
                    comparison.assertSameRows("SELECT id, v FROM d" + client);
                }
            }
            String metrics = engine.rest().get("/metrics").body();
            String used = pair.publisher().server().version() >= 16 ? "LEADER_SEND_TO_PARALLEL" : "LEADER_SERIALIZE";
            assertThat(metrics)
                    .containsPattern("pgapply_streams_total\\{action=\"" + used + "\",subscription=\"" + pair.name()
                            + "_parallel\"\\} [1-9]");
        }
    }

    private static void work(DatabasePair pair, Random random, boolean twoPhase) {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(new Client(pair, i, random, twoPhase));
        }
        int steps = RunOptions.number(300, 2_000);
        for (int step = 0; step < steps; step++) {
            clients.get(random.nextInt(CLIENTS)).step();
            if (random.nextInt(20) == 0) {
                pair.publisher().execute("INSERT INTO r VALUES (" + (1_000_000 + step) + ", 0, 'ordinary')");
            }
        }
        clients.forEach(Client::end);
    }

    /** One client with keys and a table of its own, so that nobody waits for a lock. */
    private static final class Client {
        private final Database publisher;
        private final String gid;
        private final int number;
        private final Random random;
        private final boolean twoPhase;
        private Session session;
        private int savepoints;
        private int columns;
        private int steps;

        Client(DatabasePair pair, int number, Random random, boolean twoPhase) {
            this.publisher = pair.publisher();
            this.gid = Database.literal(pair.name() + " client " + number);
            this.twoPhase = twoPhase;
            this.number = number;
            this.random = random;
            this.session = new Session(publisher);
        }

        void step() {
            steps++;
            switch (random.nextInt(16)) {
                case 0, 1 -> session.execute("SAVEPOINT s" + ++savepoints);
                case 2 -> {
                    if (savepoints > 0) {
                        int to = 1 + random.nextInt(savepoints);
                        session.execute("ROLLBACK TO s" + to);
                        savepoints = to;
                    }
                }
                case 3 -> {
                    if (savepoints > 0) {
                        session.execute("RELEASE s" + savepoints--);
                    }
                }
                case 4 -> {
                    if (random.nextInt(3) == 0) {
                        end();
                        session = new Session(publisher);
                    }
                }
                case 5 -> {
                    columns = columns % 3 + 1;
                    session.execute("ALTER TABLE d" + number + " ADD COLUMN IF NOT EXISTS c" + columns + " int");
                }
                case 6, 7 ->
                    session.execute("INSERT INTO d" + number + " SELECT g, repeat('d', 100) FROM generate_series("
                            + steps * 20 + ", " + (steps * 20 + 19) + ") g");
                case 8, 9 ->
                    session.execute("UPDATE r SET v = v + 1, w = repeat('u', " + random.nextInt(3000)
                            + ") WHERE id BETWEEN " + key() + " AND " + key());
                case 10 -> session.execute("DELETE FROM r WHERE id = " + key());
                default ->
                    session.execute("INSERT INTO r SELECT g, " + steps + ", repeat('i', " + random.nextInt(2000)
                            + ") FROM generate_series(" + key() + ", " + (key() + 5) + ") g ON CONFLICT DO NOTHING");
            }
        }

        private int key() {
            return number * KEYS_OF_A_CLIENT + random.nextInt(50);
        }

        void end() {
            boolean rolledBack = random.nextInt(4) == 0;
            if (twoPhase && random.nextInt(2) == 0) {
                session.execute("PREPARE TRANSACTION " + gid);
                publisher.execute(
                        "INSERT INTO r VALUES (" + (2_000_000 + number * 100_000 + steps) + ", 0, 'between')",
                        (rolledBack ? "ROLLBACK" : "COMMIT") + " PREPARED " + gid);
            } else if (rolledBack) {
                session.rollback();
            } else {
                session.commit();
            }
            session.close();
            savepoints = 0;
        }
    }
}
