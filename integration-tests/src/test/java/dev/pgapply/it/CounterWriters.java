package dev.pgapply.it;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.Pace;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The writers of case F02: each transaction adds n rows to f02, n to f02log and n to a counter, so that the three agree after every
 * whole transaction. Nothing in f02log has a key: a row applied twice is seen.
 */
final class CounterWriters implements AutoCloseable {

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<@Nullable SQLException> failure = new AtomicReference<>();
    private volatile boolean stopping;

    private CounterWriters() {}

    static void prepare(DatabasePair pair) {
        pair.onBoth(
                "CREATE TABLE f02(id bigserial PRIMARY KEY, v int)",
                "CREATE TABLE f02log(v int, t text)",
                "ALTER TABLE f02log REPLICA IDENTITY FULL",
                "CREATE TABLE f02cnt(k int PRIMARY KEY, n bigint)");
        pair.publisher().execute("INSERT INTO f02cnt SELECT g, 0 FROM generate_series(0, 7) g");
        pair.publish("f02", "f02log", "f02cnt");
    }

    static CounterWriters start(Database publisher, int writers, long seed) {
        CounterWriters started = new CounterWriters();
        for (int i = 0; i < writers; i++) {
            int writer = i;
            Thread thread =
                    new Thread(() -> started.write(publisher, writer, new Random(seed + writer)), "counter-" + i);
            thread.setDaemon(true);
            started.threads.add(thread);
            thread.start();
        }
        return started;
    }

    private void write(Database publisher, int writer, Random random) {
        try (Connection connection = publisher.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            while (!stopping) {
                int rows = random.nextInt(200) == 0 ? 3_000 : 1;
                String numbers = " FROM generate_series(1, " + rows + ") g";
                statement.execute("INSERT INTO f02(v) SELECT g" + numbers);
                statement.execute("INSERT INTO f02log SELECT 1, 'same'" + numbers);
                statement.execute("UPDATE f02cnt SET n = n + " + rows + " WHERE k = " + writer);
                connection.commit();
                Pace.pause();
            }
        } catch (SQLException e) {
            failure.compareAndSet(null, e);
        }
    }

    @Override
    public void close() {
        stopping = true;
        for (Thread thread : threads) {
            try {
                thread.join(60_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        SQLException thrown = failure.get();
        if (thrown != null) {
            throw new AssertionError("a writer failed", thrown);
        }
    }
}
