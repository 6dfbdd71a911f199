package dev.pgapply.worker.jdbc;

import dev.pgapply.core.subscription.ConnectionUrl;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.jdbcurlresolver.PgPassParser;

/**
 * libpq's password file ({@code PGPASSFILE}, else {@code ~/.pgpass}) for the URLs that the driver looks up wrongly: it takes a list of
 * hosts for the name of one host, and keeps an IPv6 address's brackets. As in libpq (fe-connect.c, passwordFromFile), except that all
 * hosts get the first password found. Stateless.
 */
final class PasswordFile {

    private PasswordFile() {}

    /** Null if the file has no line for any of the hosts, or there is no file. */
    static @Nullable String find(ConnectionUrl url) {
        Properties given = new Properties();
        given.putAll(url.properties());
        Properties parsed = Driver.parseURL(url.jdbcUrl(), given);
        if (parsed == null) {
            return null;
        }
        String[] hosts = parsed.getProperty(PGProperty.PG_HOST.getName(), "").split(",", -1);
        String[] ports = parsed.getProperty(PGProperty.PG_PORT.getName(), "").split(",", -1);
        String user = parsed.getProperty(PGProperty.USER.getName());
        String database = parsed.getProperty(PGProperty.PG_DBNAME.getName());
        for (int i = 0; i < hosts.length; i++) {
            String host = hosts[i].startsWith("[") ? hosts[i].substring(1, hosts[i].length() - 1) : hosts[i];
            String password = PgPassParser.getPassword(host, ports[i], database, user);
            if (password != null) {
                return password;
            }
        }
        return null;
    }
}
