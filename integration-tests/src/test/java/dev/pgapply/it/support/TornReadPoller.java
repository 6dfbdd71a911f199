package dev.pgapply.it.support;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A reader that asks the target for a value which every source transaction keeps, again and again on a thread of its own, and notes
 * each other answer: a part of a source transaction would show. It reconnects for as long as the server is away.
 */
public final class TornReadPoller implements AutoCloseable {

    private final Database target;
    private final String query;
    private final Set<String> allowed;
    private final ConcurrentLinkedQueue<String> torn = new ConcurrentLinkedQueue<>();
    private final AtomicLong reads = new AtomicLong();
    private final Thread thread;
    private volatile boolean stopping;

    private TornReadPoller(Database target, String query, Set<String> allowed) {
        this.target = target;
        this.query = query;
        this.allowed = Set.copyOf(allowed);
        this.thread = new Thread(this::poll, "torn-read-poller");
        thread.setDaemon(true);
    }

    /**
     * @param query gives one row with one value
     * @param allowed all the answers that are whole transactions
     */
    public static TornReadPoller start(Database target, String query, String... allowed) {
        TornReadPoller poller = new TornReadPoller(target, query, Set.of(allowed));
        poller.thread.start();
        return poller;
    }

    private void poll() {
        while (!stopping) {
            try (Connection connection = target.connect();
                    Statement statement = connection.createStatement()) {
                while (!stopping) {
                    read(statement);
                    Thread.sleep(5);
                }
            } catch (SQLException | IllegalStateException serverAway) {
                if (!pauseBeforeReconnect()) {
                    return;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static boolean pauseBeforeReconnect() {
        try {
            Thread.sleep(100);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void read(Statement statement) throws SQLException {
        try (ResultSet result = statement.executeQuery(query)) {
            result.next();
            String answer = String.valueOf(result.getString(1));
            if (!allowed.contains(answer) && torn.size() < 20) {
                torn.add(answer);
            }
            reads.incrementAndGet();
        }
    }

    /** How many answers it has had. */
    public long reads() {
        return reads.get();
    }

    /** Answers that no whole transaction gives, at most 20 of them. */
    public List<String> torn() {
        return List.copyOf(torn);
    }

    /** Fails if any answer was torn, or if there was none at all. */
    public void assertNeverTorn() {
        if (!torn.isEmpty()) {
            throw new AssertionError("torn reads of " + query + ": " + torn());
        }
        if (reads() == 0) {
            throw new AssertionError("the poller has had no answer");
        }
    }

    @Override
    public void close() {
        stopping = true;
        thread.interrupt();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
