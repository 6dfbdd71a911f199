package dev.pgapply.it.tablesync;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.Pace;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writers that hammer tables of the form {@code (id int PRIMARY KEY, v int, pad text)}, and for each of them a log {@code <table>log(id int, v
 * int)} without a key: inserts, updates, deletes, deletes with re-inserts, and keys that move far away (case N01). A writer that loses its
 * connection, or whose server is gone, tries again until it is stopped; whatever its last transaction came to is the publisher's to know.
 */
final class HammeringWriters implements AutoCloseable {

    private static final int KEYS = 3_000;
    private static final int FAR_AWAY = 1_000_000;

    private final Database publisher;
    private final List<String> tables;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong transactions = new AtomicLong();
    private volatile boolean stopping;

    private HammeringWriters(Database publisher, List<String> tables) {
        this.publisher = publisher;
        this.tables = tables;
    }

    /** What creates a table and its log, on both sides. */
    static String[] definitions(String table) {
        return new String[] {
            "CREATE TABLE " + table + "(id int PRIMARY KEY, v int, pad text)",
            "CREATE TABLE " + table + "log(id int, v int)"
        };
    }

    /** Fills a table with rows that the writers work on. */
    static String fill(String table, int rows) {
        return "INSERT INTO " + table + " SELECT g, 0, repeat('x', 20) FROM generate_series(1, " + rows + ") g";
    }

    static HammeringWriters start(Database publisher, int writers, long seed, String... tables) {
        HammeringWriters started = new HammeringWriters(publisher, List.of(tables));
        for (int i = 0; i < writers; i++) {
            Random random = new Random(seed + i);
            int first = i * KEYS;
            Thread thread = new Thread(() -> started.write(first, random), "hammer-" + i);
            thread.setDaemon(true);
            started.threads.add(thread);
            thread.start();
        }
        return started;
    }

    private void write(int first, Random random) {
        while (!stopping) {
            try (Connection connection = publisher.connect();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                while (!stopping) {
                    transaction(statement, first, random);
                    if (random.nextInt(20) == 0) {
                        connection.rollback();
                    } else {
                        connection.commit();
                        transactions.incrementAndGet();
                    }
                    Pace.pause();
                }
            } catch (SQLException | RuntimeException e) {
                awaitConnection();
            }
        }
    }

    /** The server is being restarted. */
    private void awaitConnection() {
        Wait.until("the publisher to be there again", () -> stopping || publisher.number("SELECT 1") == 1);
    }

    private void transaction(Statement statement, int first, Random random) throws SQLException {
        int changes = random.nextInt(60) == 0 ? 200 : 1 + random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            String table = tables.get(random.nextInt(tables.size()));
            int id = 1 + first + random.nextInt(KEYS);
            int v = random.nextInt(1_000_000);
            String insert = "INSERT INTO " + table + " VALUES (" + id + ", " + v + ", 'w') ON CONFLICT DO NOTHING";
            switch (random.nextInt(7)) {
                case 0, 1 -> statement.execute(insert);
                case 2, 3 -> statement.execute("UPDATE " + table + " SET v = " + v + " WHERE id = " + id);
                case 4 -> {
                    // Into other ranges of the copy, and back.
                    statement.execute("DELETE FROM " + table + " WHERE id = " + (id + FAR_AWAY));
                    statement.execute("UPDATE " + table + " SET id = id + " + FAR_AWAY + " WHERE id = " + id);
                }
                case 5 -> {
                    statement.execute("DELETE FROM " + table + " WHERE id = " + id);
                    statement.execute(insert);
                }
                default -> statement.execute("INSERT INTO " + table + "log VALUES (" + id + ", " + v + ")");
            }
        }
    }

    long transactions() {
        return transactions.get();
    }

    /** Waits until this many more transactions are committed. */
    void awaitTransactions(long more) {
        long wanted = transactions() + more;
        Wait.until("writers to go on", SyncedEngine.LONG_ENOUGH, () -> transactions() >= wanted);
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
            if (thread.isAlive()) {
                throw new AssertionError("writer " + thread.getName() + " does not end");
            }
        }
    }
}
