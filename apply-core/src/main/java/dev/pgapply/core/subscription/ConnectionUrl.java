package dev.pgapply.core.subscription;

import java.util.Map;
import java.util.TreeMap;

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

    /** Without secrets: a record's own text would print the password. */
    @Override
    public String toString() {
        Map<String, String> shown = new TreeMap<>(properties);
        shown.replaceAll((key, value) -> key.toLowerCase(java.util.Locale.ROOT).contains("password") ? "***" : value);
        return display + " " + shown;
    }
}
