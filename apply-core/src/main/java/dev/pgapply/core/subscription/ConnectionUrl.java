package dev.pgapply.core.subscription;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where a database is, in the driver's terms.
 *
 * @param jdbcUrl what goes to the driver; never holds a password
 * @param properties the driver's connection properties, user and password among them
 * @param display the URL for people: {@code postgresql://user@host:port/database}, no password, no secrets
 */
public record ConnectionUrl(String jdbcUrl, Map<String, String> properties, String display) {

    public ConnectionUrl {
        properties = Map.copyOf(properties);
    }

    /**
     * Reads a libpq URI ({@code postgresql://}, {@code postgres://}) or a URL of the driver ({@code jdbc:postgresql:}). No message
     * of an error ever holds a part of the URL that could be a password.
     *
     * @param password wins over the URL's own; null where none was configured
     * @param defaultUser the operating system's user, taken where the URL names none
     * @throws ApplyException CONFIGURATION, naming what is wrong
     */
    public static ConnectionUrl parse(String url, @Nullable String password, String defaultUser) {
        int colon = url.indexOf(':');
        String scheme = colon < 0 ? "" : url.substring(0, colon).toLowerCase(Locale.ROOT);
        if ((scheme.equals("postgresql") || scheme.equals("postgres")) && url.startsWith("://", colon)) {
            return LibpqUri.parse(url.substring(colon + 3), password, defaultUser);
        }
        if (url.toLowerCase(Locale.ROOT).startsWith("jdbc:postgresql:")) {
            return JdbcUrl.parse(url, password, defaultUser);
        }
        if (scheme.equals("mariadb") || url.startsWith("jdbc:mariadb:")) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "a mariadb:// URL is not supported yet",
                    "use a PostgreSQL database: postgresql://user@host:5432/database");
        }
        throw ApplyException.withHint(
                Kind.CONFIGURATION,
                "the URL is of no known kind",
                "write postgresql://user@host:5432/database or jdbc:postgresql://host:5432/database");
    }

    /**
     * The hosts with their ports as the driver has them ({@code host:port,host:port}): two URLs with the same ones reach the same
     * server.
     */
    public String authority() {
        int start = jdbcUrl.indexOf("//");
        if (start < 0) {
            return "localhost:5432";
        }
        int end = jdbcUrl.indexOf('/', start + 2);
        return jdbcUrl.substring(start + 2, end < 0 ? jdbcUrl.length() : end).toLowerCase(Locale.ROOT);
    }

    /** Without secrets: a record's own text would print the password. */
    @Override
    public String toString() {
        Map<String, String> shown = new TreeMap<>(properties);
        shown.replaceAll((key, value) -> key.toLowerCase(Locale.ROOT).contains("password") ? "***" : value);
        return display + " " + shown;
    }
}
