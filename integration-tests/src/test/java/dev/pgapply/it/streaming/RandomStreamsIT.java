package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RunOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random transactions with savepoints, of several clients at a time, beside small ones; the publisher streams every change at once, so
 * that each block holds little and everything interleaves.
 */
class RandomStreamsIT {

    private static final int CLIENTS = 4;
    private static final int KEYS_OF_A_CLIENT = 1000;

    @Test
    void random_interleaved_transactions_give_the_same_table_through_kills_of_the_engine() {
        long seed = RunOptions.seed();
        System.out.println("RandomStreamsIT: seed " + seed + "; again with -Dpgapply.seed=" + seed);
        Random random = new Random(seed);
        DatabasePair pair = DatabasePair.shared()
                .onBoth("CREATE TABLE r(id int PRIMARY KEY, v int, w text)")
                .publish("r");
        if (pair.publisher().server().version() >= 16) {
            pair.publisher()
                    .execute("ALTER DATABASE " + pair.name() + " SET debug_logical_replication_streaming = immediate");
        }
        try (StreamingEngine engine = StreamingEngine.start(pair, EngineProcess.Builder::ownProcess)) {
            List<Client> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(new Client(engine, i * KEYS_OF_A_CLIENT, random));
            }
            int steps = RunOptions.number(800, 20_000);
            int stepsOfALife = steps / RunOptions.number(2, 20) + 1;
            for (int step = 0; step < steps; step++) {
                if (step % stepsOfALife == stepsOfALife - 1) {
                    engine.process().awaitStreaming();
                    engine.killAndStart();
                }
                clients.get(random.nextInt(CLIENTS)).step();
                if (random.nextInt(20) == 0) {
                    pair.publisher().execute("INSERT INTO r VALUES (" + (1_000_000 + step) + ", 0, 'ordinary')");
                }
            }
            clients.forEach(Client::end);

            engine.awaitSame("r");
            assertThat(engine.streamedTransactions()).isPositive();
            assertThat(engine.streams()).isEmpty();
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    /** One client with keys of its own, so that nobody waits for a lock. */
    private static final class Client {
        private final StreamingEngine engine;
        private final int firstKey;
        private final Random random;
        private Session session;
        private int savepoints;
        private int steps;

        Client(StreamingEngine engine, int firstKey, Random random) {
            this.engine = engine;
            this.firstKey = firstKey;
            this.random = random;
            this.session = engine.begin();
        }

        void step() {
            steps++;
            switch (random.nextInt(14)) {
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
                        session = engine.begin();
                    }
                }
                case 5, 6, 7 ->
                    session.execute("UPDATE r SET v = v + 1, w = repeat('u', " + random.nextInt(3000)
                            + ") WHERE id BETWEEN " + key() + " AND " + key());
                case 8 -> session.execute("DELETE FROM r WHERE id = " + key());
                default ->
                    session.execute("INSERT INTO r SELECT g, " + steps + ", repeat('i', " + random.nextInt(2000)
                            + ") FROM generate_series(" + key() + ", " + (key() + 5) + ") g ON CONFLICT DO NOTHING");
            }
        }

        private int key() {
            return firstKey + random.nextInt(50);
        }

        void end() {
            if (random.nextInt(4) == 0) {
                session.rollback();
            } else {
                session.commit();
            }
            session.close();
            savepoints = 0;
        }
    }
}
