package dev.pgapply.it.soak;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * {@code mvn -B -Psoak [-Dsoak.minutes=30] [-Dsoak.seed=…]}: mixed load for so long. In the first half the engine is stopped, killed and
 * started again, and its sessions are ended on both servers; in the second half only its sessions are ended, so that what one process
 * gathers over many lives shows. Status 1 if the tables differ at the end, or if what must stay flat has grown from the middle to the end.
 */
public final class Soak {

    private static final long MEGABYTE = 1024 * 1024;
    private static final int INTERRUPTIONS = 10;
    private static final Duration CATCH_UP = Duration.ofMinutes(5);

    private final Duration length;
    private final Random random;
    private final DatabasePair pair;
    private final EngineProcess engine;
    private final List<SoakSample> samples = new ArrayList<>();

    private Soak(Duration length, Random random, DatabasePair pair) {
        this.length = length;
        this.random = random;
        this.pair = pair;
        this.engine = EngineProcess.of(pair.config()).heap("256m").start();
    }

    /** Runs for {@code soak.minutes}. */
    public static void main(String[] arguments) throws InterruptedException {
        Locale.setDefault(Locale.ROOT);
        long minutes = Long.getLong("soak.minutes", 30);
        long seed = Long.getLong("soak.seed", new Random().nextLong());
        System.out.println("soak of " + minutes + " minutes, -Dsoak.seed=" + seed);
        boolean flat;
        try (PostgresServer publisher = PostgresServer.publisher(18).unhurried().start();
                PostgresServer target = PostgresServer.target(18).unhurried().start();
                DatabasePair pair = DatabasePair.on(publisher, target)) {
            pair.onBoth(SoakLoad.DDL);
            pair.publishAll();
            pair.publisher()
                    .execute(
                            "INSERT INTO accounts SELECT g, 0, '', now() FROM generate_series(1, 5000) g",
                            "INSERT INTO events(account, body) SELECT g, 'b' FROM generate_series(1, 5000) g",
                            "INSERT INTO nokey SELECT 1 + g % 100, 'b' FROM generate_series(1, 1000) g");
            flat = new Soak(Duration.ofMinutes(minutes), new Random(seed), pair).run();
        }
        System.exit(flat ? 0 : 1);
    }

    private boolean run() throws InterruptedException {
        try (engine) {
            engine.awaitStreaming();
            try (SoakLoad load = new SoakLoad(pair.publisher(), new Random(random.nextLong()))) {
                long pause = length.toMillis() / (2 * INTERRUPTIONS + 2);
                TimeUnit.MILLISECONDS.sleep(pause);
                sample("start", load);
                for (int i = 1; i <= INTERRUPTIONS; i++) {
                    interrupt(i, true);
                    TimeUnit.MILLISECONDS.sleep(pause);
                }
                engine.awaitStreaming();
                sample("middle", load);
                for (int i = 1; i <= INTERRUPTIONS; i++) {
                    interrupt(i, false);
                    TimeUnit.MILLISECONDS.sleep(pause);
                }
                sample("end", load);
            }
            engine.awaitApplied(pair.name(), pair.publisher().insertLsn(), CATCH_UP);
            TableComparison.of(pair).assertSame(SoakLoad.TABLES);
            System.out.println("the tables are the same");
            return isFlat(samples.get(1), samples.get(2));
        }
    }

    /** @param ofProcess whether the process itself may be ended */
    private void interrupt(int number, boolean ofProcess) {
        if (ofProcess && number % 3 == 0) {
            engine.killNine();
            engine.start();
        } else if (ofProcess && number % 3 == 1) {
            engine.stop();
            engine.start();
        } else if (random.nextBoolean()) {
            pair.target()
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND application_name LIKE 'pgapply % apply'");
        } else {
            pair.publisher().execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active");
        }
    }

    private void sample(String moment, SoakLoad load) {
        // At rest: else it is the batches under way that are counted.
        load.pausedFor(() -> {
            engine.awaitApplied(pair.name(), pair.publisher().insertLsn(), CATCH_UP);
            samples.add(SoakSample.take(moment, engine.pid(), pair.target()));
        });
        System.out.println(SoakSample.header() + "\n" + samples.get(samples.size() - 1) + "\n" + load.transactions()
                + " transactions so far");
    }

    /** Bloat and catalogs are reported; only what the engine itself holds is judged. */
    private static boolean isFlat(SoakSample middle, SoakSample end) {
        System.out.println(SoakSample.header() + "\n" + middle + "\n" + end);
        boolean flat = end.heapBytes() <= middle.heapBytes() + 8 * MEGABYTE
                && end.threads() <= middle.threads() + 4
                && end.files() <= middle.files() + 8
                && end.connections() <= middle.connections() + 1
                && end.temporaryTables() <= middle.temporaryTables() + 1;
        System.out.println(flat ? "flat" : "something has grown");
        return flat;
    }
}
