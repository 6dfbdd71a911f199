package dev.pgapply.it.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Concurrent writers on a publisher: inserts, updates, key changes, deletes and re-inserts in transactions of one row up to thousands,
 * over five tables. Each transaction also moves money between accounts and writes both sides of the move to the ledger, so that the
 * ledger's total is zero and the accounts' total never changes, whatever whole transactions a reader sees. Every writer has its own
 * seeded {@link WorkloadWriter} and thread.
 */
public final class Workload implements AutoCloseable {

    private static final List<String> DEFINITIONS = List.of(
            "CREATE TABLE account(id int PRIMARY KEY, balance bigint NOT NULL)",
            "CREATE TABLE ledger(id bigint PRIMARY KEY, account int NOT NULL, amount bigint NOT NULL, memo text)",
            "CREATE TABLE customer(id bigint PRIMARY KEY, code text NOT NULL UNIQUE, name text, changes int NOT NULL)",
            "CREATE TABLE line(region int, no bigint, quantity numeric(12,3), note text, document text,"
                    + " PRIMARY KEY (region, no))",
            "CREATE TABLE event(at timestamptz NOT NULL, writer int, kind text, payload jsonb)",
            "ALTER TABLE event REPLICA IDENTITY FULL",
            "ALTER TABLE line ALTER document SET STORAGE EXTERNAL");

    private static final List<String> NAMES = List.of("account", "ledger", "customer", "line", "event");

    /** What the torn-read poller asks: {@code 0} or, before the copy, {@code 0} too. */
    public static final String LEDGER_TOTAL = "SELECT coalesce(sum(amount), 0) FROM ledger";

    static final int ACCOUNTS = 100;

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong transactions = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final CountDownLatch started;
    private volatile boolean stopping;

    private Workload(int writers) {
        this.started = new CountDownLatch(writers);
    }

    /** Creates the tables on both sides and the first rows and the publication on the publisher. */
    public static void prepare(DatabasePair pair) {
        pair.onBoth(DEFINITIONS.toArray(String[]::new));
        pair.publisher().execute("INSERT INTO account SELECT g, 1000 FROM generate_series(1, " + ACCOUNTS + ") g");
        pair.publish(names());
    }

    /** The names of the tables. */
    public static String[] names() {
        return NAMES.toArray(String[]::new);
    }

    /**
     * Starts the writers; when this returns each has committed once.
     *
     * @param largeRows how many rows a large transaction touches; about one transaction in 50 is large
     */
    public static Workload start(Database publisher, int writers, long seed, int largeRows) {
        Workload workload = new Workload(writers);
        for (int i = 0; i < writers; i++) {
            WorkloadWriter writer = new WorkloadWriter(publisher, i, seed + i, largeRows);
            Thread thread = new Thread(() -> workload.write(writer), "writer-" + i);
            thread.setDaemon(true);
            workload.threads.add(thread);
            thread.start();
        }
        workload.awaitStarted();
        return workload;
    }

    private void awaitStarted() {
        Wait.until("writers to have committed", () -> started.getCount() == 0 || failure.get() != null);
        rethrow();
    }

    private void write(WorkloadWriter writer) {
        try (writer) {
            writer.connect();
            boolean first = true;
            while (!stopping) {
                writer.transaction();
                transactions.incrementAndGet();
                if (first) {
                    started.countDown();
                    first = false;
                }
                Pace.pause();
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    /** How many transactions have been committed. */
    public long transactions() {
        return transactions.get();
    }

    /** Waits until this many more transactions are committed. */
    public void awaitTransactions(long more) {
        long wanted = transactions() + more;
        Wait.until("writers to go on", () -> transactions() >= wanted || failure.get() != null);
        rethrow();
    }

    private void rethrow() {
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new AssertionError("a writer failed: " + thrown.getMessage(), thrown);
        }
    }

    /** Ends the writers after their current transactions. */
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
        rethrow();
    }
}
