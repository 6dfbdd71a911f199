package dev.pgapply.worker.jdbc;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.target.Target;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL database that changes are applied to. Descriptions are read over a connection of its own, opened when first needed and
 * again after an error. Thread-safe.
 */
public final class PostgresTarget implements Target, AutoCloseable {

    private static final int LEADER = 0;

    private final PostgresConnections connections;
    private final String subscription;
    private final String synchronousCommit;
    private final SessionFence fence;
    private final SessionCommit.Factory commits;

    private @Nullable Connection catalog;
    private @Nullable TableDescriber describer;
    private volatile boolean replica = true;
    private volatile int catalogPid;

    /**
     * @param subscription the subscription's name, shown in the sessions' application_name
     * @param synchronousCommit the value for apply sessions, as PostgreSQL writes it
     * @param fence lets each session in under the current owner's epoch
     * @param commits how each apply session ends its transactions
     */
    public PostgresTarget(
            PostgresConnections connections,
            String subscription,
            String synchronousCommit,
            SessionFence fence,
            SessionCommit.Factory commits) {
        this.connections = connections;
        this.subscription = subscription;
        this.synchronousCommit = synchronousCommit;
        this.fence = fence;
        this.commits = commits;
    }

    @Override
    public @Nullable TargetTable describe(QualifiedName name) {
        synchronized (this) {
            try {
                return describer().describe(name);
            } catch (SQLException e) {
                closeCatalog();
                throw PostgresErrors.translate("could not read the description of table \"" + name + "\"", e);
            }
        }
    }

    @Override
    public Map<QualifiedName, TargetTable> describe(Collection<QualifiedName> names) {
        synchronized (this) {
            try {
                return describer().describe(names);
            } catch (SQLException e) {
                closeCatalog();
                throw PostgresErrors.translate("could not read the descriptions of the tables", e);
            }
        }
    }

    private TableDescriber describer() throws SQLException {
        TableDescriber open = describer;
        if (open == null) {
            Connection connection = connect("catalog");
            catalog = connection;
            catalogPid = PostgresConnections.backendPid(connection);
            open = new TableDescriber(connection, replica);
            describer = open;
        }
        return open;
    }

    @Override
    public PostgresSession openSession(String role) {
        return openSession(role, LEADER);
    }

    @Override
    public PostgresSession openParallelSession(int applySession) {
        return openSession("parallel " + applySession, applySession);
    }

    private PostgresSession openSession(String role, int applySession) {
        Connection connection = connect(role);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET synchronous_commit = " + Identifiers.literal(synchronousCommit) + "; "
                    + PlannerSettings.SESSION);
            return new PostgresSession(connection, replica, applySession, commits);
        } catch (SQLException e) {
            PostgresConnections.cut(connection);
            throw PostgresErrors.translate("could not set up the target session", e);
        } catch (RuntimeException e) {
            PostgresConnections.cut(connection);
            throw e;
        }
    }

    /**
     * Whether sessions run with session_replication_role = replica, in which ordinary triggers and foreign keys do not fire. Known after
     * the first session was opened or table described; false means that the role may not set it.
     */
    public boolean runsAsReplica() {
        return replica;
    }

    private Connection connect(String role) {
        Connection connection = connections.openTarget("pgapply " + subscription + " " + role);
        try {
            fence.enter(connection);
            replica = becomeReplica(connection);
            return connection;
        } catch (RuntimeException e) {
            PostgresConnections.cut(connection);
            throw e;
        }
    }

    /** Needs a superuser, or from PostgreSQL 15 on GRANT SET ON PARAMETER. */
    private static boolean becomeReplica(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET session_replication_role = replica");
            return true;
        } catch (SQLException e) {
            if ("42501".equals(e.getSQLState())) {
                return false;
            }
            throw PostgresErrors.translate("could not set session_replication_role", e);
        }
    }

    /** The server process that reads descriptions, 0 while there is none: whoever asks for one waits for it. Any thread. */
    public int catalogPid() {
        return catalogPid;
    }

    private void closeCatalog() {
        catalogPid = 0;
        Connection open = catalog;
        catalog = null;
        describer = null;
        if (open != null) {
            PostgresConnections.cut(open);
        }
    }

    /** Closes the connection that descriptions are read over; sessions are their owners' to close. */
    @Override
    public void close() {
        synchronized (this) {
            closeCatalog();
        }
    }
}
