package dev.pgapply.worker.jdbc;

import dev.pgapply.core.subscription.ConnectionUrl;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Opens connections to one server. Each has its output settings, search_path and timeouts pinned in the start-up packet, so that no
 * default of a role or database can win (SEMANTICS S-1, S-2). Thread-safe.
 */
public final class PostgresConnections {

    private static final String PINNED = "-c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3"
            + " -c bytea_output=hex -c statement_timeout=0 -c lock_timeout=0"
            + " -c idle_in_transaction_session_timeout=0";

    private final ConnectionUrl url;

    public PostgresConnections(ConnectionUrl url) {
        this.url = url;
    }

    public ConnectionUrl url() {
        return url;
    }

    /** Opens an ordinary connection in autocommit mode. */
    public Connection open(String applicationName) {
        return connect(applicationName, new Properties());
    }

    /** Opens a walsender connection ({@code replication=database}); it speaks the simple query protocol only. */
    public Connection openReplication(String applicationName) {
        Properties replication = new Properties();
        replication.setProperty("replication", "database");
        replication.setProperty("preferQueryMode", "simple");
        replication.setProperty("assumeMinServerVersion", "14");
        return connect(applicationName, replication);
    }

    private Connection connect(String applicationName, Properties extra) {
        Properties properties = new Properties();
        properties.putAll(url.properties());
        properties.putAll(extra);
        properties.putIfAbsent("ApplicationName", applicationName);
        String options = url.properties().get("options");
        properties.setProperty("options", options == null ? PINNED : options + " " + PINNED);
        try {
            return DriverManager.getConnection(url.jdbcUrl(), properties);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not connect to " + url.display(), e);
        }
    }
}
