package dev.pgapply.it.tablesync;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.Wait;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Writers hammer every table during the first copy, while tables are added, and while tables are redone; engine, target and publisher are
 * restarted at random moments. Whatever happens, all tables are equal at the end.
 */
class RandomRestartsIT {

    private static final List<String> TABLES = List.of("one", "two", "three");

    @Test
    void all_tables_are_equal_at_the_end_whatever_is_restarted_while_they_are_copied() {
        try (PostgresServer publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                        .durable()
                        .start();
                PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .durable()
                        .start()) {
            long first = RunOptions.seed();
            for (int run = 0; run < RunOptions.number(1, 30); run++) {
                long seed = first + run;
                System.out.println("RandomRestartsIT: run " + (run + 1) + ", seed " + seed
                        + "; again with -Dpgapply.seed=" + seed);
                new Run(publisher, target, seed).go();
            }
        }
    }

    /** One subscription from its first start to its end. */
    private static final class Run {
        private final PostgresServer publisher;
        private final PostgresServer target;
        private final Random random;
        private final long seed;
        private final int rows = RunOptions.number(20_000, 60_000);
        private final List<String> published = new ArrayList<>(List.of("one", "onelog"));

        Run(PostgresServer publisher, PostgresServer target, long seed) {
            this.publisher = publisher;
            this.target = target;
            this.seed = seed;
            this.random = new Random(seed);
        }

        void go() {
            DatabasePair pair = DatabasePair.on(publisher, target);
            for (String table : TABLES) {
                pair.onBoth(HammeringWriters.definitions(table));
                pair.publisher().execute(HammeringWriters.fill(table, rows));
            }
            pair.publish("one", "onelog");
            try (HammeringWriters writers =
                    HammeringWriters.start(pair.publisher(), 3, seed, TABLES.toArray(String[]::new))) {
                writers.awaitTransactions(10);
                try (SyncedEngine engine =
                        SyncedEngine.launch(pair, EngineProcess.Builder::ownProcess, "streaming", "on")) {
                    for (int step = 0; step < RunOptions.number(6, 10); step++) {
                        step(engine);
                        writers.awaitTransactions(random.nextInt(80));
                    }
                    publishRest(engine);
                    writers.close();
                    String[] all = published.toArray(String[]::new);
                    engine.awaitState("r", all);
                    engine.awaitSame(all);
                }
            }
        }

        private void step(SyncedEngine engine) {
            switch (random.nextInt(6)) {
                case 0 -> engine.killAndStart();
                case 1 -> target.restart(random.nextBoolean() ? ShutdownMode.IMMEDIATE : ShutdownMode.FAST);
                case 2 -> publisher.restart(ShutdownMode.IMMEDIATE);
                case 3 -> publish(engine, TABLES.get(random.nextInt(TABLES.size())));
                default -> {
                    // What does not stream now refuses, or is restarted before it answers; that is as good a moment as
                    // any.
                    String table = "public." + published.get(random.nextInt(published.size()));
                    boolean unused = isDone(() -> engine.resync(table));
                }
            }
        }

        private void publish(SyncedEngine engine, String table) {
            if (!published.contains(table)) {
                engine.pair().publisher().execute("ALTER PUBLICATION pb ADD TABLE " + table + ", " + table + "log");
                published.add(table);
                published.add(table + "log");
            }
            boolean unused = isDone(engine::refresh);
        }

        private void publishRest(SyncedEngine engine) {
            TABLES.forEach(table -> publish(engine, table));
            Wait.until("a refresh", SyncedEngine.LONG_ENOUGH, () -> isDone(engine::refresh), engine.process()::explain);
        }

        private interface Request {
            RestClient.Answer send();
        }

        private static boolean isDone(Request request) {
            try {
                return request.send().status() == 200;
            } catch (UncheckedIOException e) {
                return false;
            }
        }
    }
}
