package dev.pgapply.worker.jdbc;

import dev.pgapply.core.subscription.ConnectionUrl;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;

/**
 * Opens connections to one server. Output settings and timeouts are pinned in the start-up packet, behind the operator's own
 * {@code options}, so that no default of a role or database can win; settings that not every version knows, and those that the driver
 * would send itself, follow by SET (SEMANTICS S-1, S-2). Thread-safe.
 */
public final class PostgresConnections {

    private static final String PINNED = "-c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3"
            + " -c bytea_output=hex -c xmloption=content -c array_nulls=on -c statement_timeout=0 -c lock_timeout=0"
            + " -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0 -c client_min_messages=notice";

    /**
     * What a target session has besides: a role or database that is read-only or serializable by default must not change how changes
     * are applied, and a policy must fail instead of hiding rows (execMain.c, S-19).
     */
    private static final String PINNED_TARGET = " -c default_transaction_isolation=read\\ committed"
            + " -c default_transaction_read_only=off -c default_transaction_deferrable=off -c row_security=off";

    /** An older one does not know idle_session_timeout and says so. */
    private static final String OLDEST_SERVER = "14";

    private static final List<String> WATCHED_TARGET = List.of(
            "SET tcp_keepalives_idle = 10",
            "SET tcp_keepalives_interval = 5",
            "SET tcp_keepalives_count = 3",
            "SET tcp_user_timeout = 30000");

    private static final int WALSENDER_ANSWER_SECONDS = 30;

    private final ConnectionUrl url;

    public PostgresConnections(ConnectionUrl url) {
        this.url = url;
    }

    public ConnectionUrl url() {
        return url;
    }

    /** Opens an ordinary connection in autocommit mode, with an empty search_path. */
    public Connection open(String applicationName) {
        return connect(applicationName, PINNED, new Properties(), List.of());
    }

    /**
     * Opens a connection that writes to the target: as {@link #open}, and a dead host frees its locks within about 30 seconds. Statements
     * are prepared on the server at their first use, and kept only by whoever asked for them.
     */
    public Connection openTarget(String applicationName) {
        Properties session = new Properties();
        PGProperty.PREPARE_THRESHOLD.set(session, 1);
        PGProperty.PREPARED_STATEMENT_CACHE_QUERIES.set(session, 0);
        PGProperty.STRING_TYPE.set(session, "unspecified");
        PatientSocketFactory.useFor(session);
        Connection connection = connect(applicationName, PINNED + PINNED_TARGET, session, WATCHED_TARGET);
        tryToSet(connection, "SET client_connection_check_interval = 5000");
        return connection;
    }

    /** Opens a walsender connection ({@code replication=database}); it speaks the simple query protocol only. */
    public Connection openReplication(String applicationName) {
        Properties replication = new Properties();
        PatientSocketFactory.useFor(replication);
        return openReplication(applicationName, replication);
    }

    /**
     * Opens a walsender connection for the receiver, who waits on its socket. Until it streams, a server that does not answer is given
     * up after 30 seconds.
     */
    public WalSenderConnection openWalSender(String applicationName) {
        try (PatientSocketFactory.Lease lease = new PatientSocketFactory.Lease()) {
            Properties replication = new Properties();
            lease.useFor(replication);
            PGProperty.SOCKET_TIMEOUT.set(replication, WALSENDER_ANSWER_SECONDS);
            Connection connection = openReplication(applicationName, replication);
            return new WalSenderConnection(connection, lease.socket());
        }
    }

    private Connection openReplication(String applicationName, Properties replication) {
        PGProperty.REPLICATION.set(replication, "database");
        PGProperty.PREFER_QUERY_MODE.set(replication, "simple");
        // The operator's own application_name wins here, as in PostgreSQL (libpqwalreceiver.c:
        // fallback_application_name).
        String own = url.properties().get(PGProperty.APPLICATION_NAME.getName());
        return connect(own == null ? applicationName : own, PINNED, replication, List.of());
    }

    private Connection connect(String applicationName, String pinned, Properties extra, List<String> more) {
        Properties properties = new Properties();
        properties.putAll(url.properties());
        properties.putAll(extra);
        PGProperty.APPLICATION_NAME.set(properties, applicationName);
        // Then the driver's own settings travel in the start-up packet, too, instead of in two round trips of their
        // own.
        PGProperty.ASSUME_MIN_SERVER_VERSION.set(properties, OLDEST_SERVER);
        if (!properties.containsKey(PGProperty.PASSWORD.getName())) {
            String password = PasswordFile.find(url);
            if (password != null) {
                PGProperty.PASSWORD.set(properties, password);
            }
        }
        String options = url.properties().get(PGProperty.OPTIONS.getName());
        PGProperty.OPTIONS.set(properties, options == null ? pinned : options + " " + pinned);
        Connection connection;
        try {
            connection = DriverManager.getConnection(url.jdbcUrl(), properties);
        } catch (SQLException e) {
            throw PostgresErrors.whileConnecting(url, e);
        }
        List<String> settings = settingsOfVersion(connection);
        settings.addAll(more);
        runAll(connection, settings);
        return connection;
    }

    /**
     * The driver may send a search_path, and sends the JVM's time zone, which would let the machine that runs the engine decide what
     * triggers see; both would win over {@code options}.
     */
    private static List<String> settingsOfVersion(Connection connection) {
        List<String> settings = new ArrayList<>(List.of("SET search_path = ''", "SET TimeZone = 'UTC'"));
        if (serverMajorVersion(connection) >= 17) {
            settings.add("SET transaction_timeout = 0");
        }
        return settings;
    }

    /** The server's major version, as it said at connection: no round trip. */
    public static int serverMajorVersion(Connection connection) {
        try {
            String version = connection.unwrap(PGConnection.class).getParameterStatus("server_version");
            if (version != null) {
                int digits = 0;
                while (digits < version.length() && Character.isDigit(version.charAt(digits))) {
                    digits++;
                }
                if (digits > 0) {
                    return Integer.parseInt(version, 0, digits, 10);
                }
            }
            return connection.getMetaData().getDatabaseMajorVersion();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the server's version", e);
        }
    }

    /** The server's process, as it said at connection: no round trip. */
    static int backendPid(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    private void runAll(Connection connection, List<String> statements) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(String.join(";", statements));
        } catch (SQLException e) {
            closeQuietly(connection, e);
            throw PostgresErrors.whileConnecting(url, e);
        }
    }

    /** For a setting that some platforms or roles refuse: without it the session works all the same. */
    private void tryToSet(Connection connection, String setting) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(setting);
        } catch (SQLException e) {
            if (PostgresErrors.isConnectionLost(e)) {
                closeQuietly(connection, e);
                throw PostgresErrors.whileConnecting(url, e);
            }
        }
    }

    /** Cuts a connection's socket at once, whatever it is doing; from any thread. */
    public static void cut(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not cut the connection", e);
        }
    }

    private static void closeQuietly(Connection connection, SQLException reason) {
        try {
            connection.close();
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
