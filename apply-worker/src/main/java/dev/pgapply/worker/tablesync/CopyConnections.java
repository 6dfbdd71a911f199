package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.SessionFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the sessions of one initial copy and ends all of them at once. Thread-safe: each session belongs to the thread that opened it,
 * and {@link #close} may come from any.
 */
public final class CopyConnections implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CopyConnections.class);

    /** How long the servers have to take the cancel requests before the sockets are closed. */
    private static final Duration CANCEL_PATIENCE = Duration.ofSeconds(1);

    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private final String subscription;
    private final PostgresConnections publisher;
    private final PostgresConnections target;
    private final SessionFence fence;
    private final List<Connection> open = new ArrayList<>();
    private boolean closed;

    public CopyConnections(
            String subscription, PostgresConnections publisher, PostgresConnections target, SessionFence fence) {
        this.subscription = subscription;
        this.publisher = publisher;
        this.target = target;
        this.fence = fence;
    }

    /** The same, to be opened anew after these were closed. */
    CopyConnections again() {
        return new CopyConnections(subscription, publisher, target, fence);
    }

    String subscription() {
        return subscription;
    }

    PostgresConnections publisher() {
        return publisher;
    }

    /** A session on the publisher in autocommit mode. A row policy there is an error and never hides rows. */
    Connection openPublisher() {
        Connection connection = register(publisher.open(applicationName()));
        execute(connection, "SET row_security = off");
        return connection;
    }

    /** A walsender connection. */
    Connection openReplication() {
        return register(publisher.openReplication(subscription));
    }

    /** A session on the target in autocommit mode, under the owner's epoch; triggers fire as in an apply session where the role may say so. */
    Connection openTarget() {
        Connection connection = register(target.openTarget(applicationName()));
        fence.enter(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET session_replication_role = replica");
        } catch (SQLException e) {
            // The start has said so: preflight names the triggers that fire then.
            if (!INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                throw PostgresErrors.translate("could not set up a session on the target", e);
            }
        }
        return connection;
    }

    private String applicationName() {
        return "pgapply " + subscription + " copy";
    }

    private void execute(Connection connection, String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not set up a session on the publisher", e);
        }
    }

    private synchronized Connection register(Connection connection) {
        if (closed) {
            PostgresConnections.cut(connection);
            throw new ApplyException(Kind.CONNECTION, "the initial copy is being stopped");
        }
        open.add(connection);
        return connection;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Cuts one session, whatever it is doing. */
    void discard(Connection connection) {
        synchronized (this) {
            open.remove(connection);
        }
        cancel(connection);
        PostgresConnections.cut(connection);
    }

    /** Ends the sessions when nothing is under way on them any more. */
    void finish() {
        for (Connection connection : endAll()) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("a session did not end in order", e);
            }
        }
    }

    private synchronized List<Connection> endAll() {
        closed = true;
        List<Connection> ended = List.copyOf(open);
        open.clear();
        return ended;
    }

    /**
     * Cancels what the sessions are doing and cuts them; their threads get errors. The cancel comes first: a backend that waits for a lock
     * or computes does not notice that its client has gone. Returns within about a second and leaves no transaction on either side.
     */
    @Override
    public void close() {
        List<Connection> ended = endAll();
        List<Thread> cancels = new ArrayList<>();
        for (Connection connection : ended) {
            Thread cancel = new Thread(() -> cancel(connection), "tablesync/" + subscription + "/cancel");
            cancel.setDaemon(true);
            cancel.start();
            cancels.add(cancel);
        }
        await(cancels);
        ended.forEach(PostgresConnections::cut);
    }

    private static void cancel(Connection connection) {
        try {
            if (!connection.isClosed()) {
                connection.unwrap(PGConnection.class).cancelQuery();
            }
        } catch (SQLException e) {
            log.debug("a cancel request did not get through", e);
        }
    }

    private static void await(List<Thread> cancels) {
        try {
            for (Thread cancel : cancels) {
                cancel.join(CANCEL_PATIENCE.toMillis() / cancels.size() + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
