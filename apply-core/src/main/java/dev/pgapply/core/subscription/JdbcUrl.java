package dev.pgapply.core.subscription;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The driver's own URL. Its parameters mean what they mean to the driver; they only move from the URL to the properties, because a
 * parameter of the URL would win over what pgapply pins, and because a URL is shown.
 */
final class JdbcUrl {

    private JdbcUrl() {}

    static ConnectionUrl parse(String url, @Nullable String password, String defaultUser) {
        int question = url.indexOf('?');
        String base = question < 0 ? url : url.substring(0, question);
        if (base.indexOf('@') >= 0) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "a jdbc: URL cannot have user and password before the host",
                    "use the parameters user and password, or postgresql://user@host:5432/database");
        }
        Map<String, String> properties = new TreeMap<>();
        if (question >= 0) {
            for (String pair : url.substring(question + 1).split("&", -1)) {
                put(properties, pair);
            }
        }
        properties.putIfAbsent("user", defaultUser);
        if (password != null && !password.isEmpty()) {
            properties.put("password", password);
        }
        return new ConnectionUrl(base, properties, display(base, properties.getOrDefault("user", "")));
    }

    private static void put(Map<String, String> properties, String pair) {
        if (pair.isEmpty()) {
            return;
        }
        int equals = pair.indexOf('=');
        String key = equals < 0 ? pair : pair.substring(0, equals);
        try {
            // The driver decodes a value like a form's: a plus sign is a space.
            properties.put(
                    key,
                    equals < 0
                            ? ""
                            : PercentEncoding.decode(pair.substring(equals + 1).replace('+', ' ')));
        } catch (IllegalArgumentException e) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "the URL's parameter \"" + key + "\" has " + e.getMessage(),
                    "write a percent sign as %25");
        }
    }

    private static String display(String base, String user) {
        String rest = base.substring("jdbc:postgresql:".length());
        return rest.startsWith("//")
                ? "jdbc:postgresql://" + user + "@" + rest.substring(2)
                : "jdbc:postgresql:" + rest;
    }
}
