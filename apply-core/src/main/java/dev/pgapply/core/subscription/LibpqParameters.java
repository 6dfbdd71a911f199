package dev.pgapply.core.subscription;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * libpq's connection parameters in the driver's properties, where the two mean the same. Where they differ, libpq's meaning is kept:
 *
 * <pre>
 * libpq                                driver
 * sslmode=require with sslrootcert     sslmode=verify-ca (the driver's require never looks at the certificate)
 * sslrootcert=system                   sslfactory=…DefaultJavaSSLFactory and sslmode=verify-full (no weaker mode allowed)
 * connect_timeout=N                    connectTimeout=N, loginTimeout=N for each host; 0 waits for ever
 * target_session_attrs=read-write      targetServerType=primary (both ask for transaction_read_only)
 * </pre>
 */
final class LibpqParameters {

    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    private static final Map<String, String> SERVER_TYPES = Map.of(
            "any", "any",
            "read-write", "primary",
            "read-only", "secondary",
            "primary", "primary",
            "standby", "secondary",
            "prefer-standby", "preferSecondary");

    private static final String KNOWN =
            "sslmode, sslrootcert, sslcert, sslkey, application_name, connect_timeout, options, target_session_attrs";

    private LibpqParameters() {}

    static Map<String, String> translate(Map<String, String> parameters, int hostCount) {
        Map<String, String> properties = new TreeMap<>();
        parameters.forEach((key, value) -> {
            switch (key) {
                case "sslmode" -> properties.put("sslmode", oneOf(key, value, SSL_MODES));
                case "sslrootcert", "sslcert", "sslkey" -> properties.put(key, value);
                case "application_name" -> properties.put("ApplicationName", value);
                case "connect_timeout" -> putTimeout(properties, value, hostCount);
                case "options" -> properties.put("options", value);
                case "target_session_attrs" -> properties.put("targetServerType", serverType(value));
                default ->
                    throw ApplyException.withHint(
                            Kind.CONFIGURATION,
                            "the URL has the unknown parameter \"" + key + "\"",
                            "known parameters are " + KNOWN);
            }
        });
        keepCertificateRules(properties);
        return properties;
    }

    private static void keepCertificateRules(Map<String, String> properties) {
        String root = properties.get("sslrootcert");
        String mode = properties.get("sslmode");
        if (root == null) {
            return;
        }
        if (root.equals("system")) {
            if (mode != null && !mode.equals("verify-full")) {
                throw ApplyException.withHint(
                        Kind.CONFIGURATION,
                        "sslmode \"" + mode + "\" is too weak for sslrootcert=system",
                        "use sslmode=verify-full");
            }
            properties.remove("sslrootcert");
            properties.put("sslmode", "verify-full");
            properties.put("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
        } else if ("require".equals(mode)) {
            properties.put("sslmode", "verify-ca");
        }
    }

    private static void putTimeout(Map<String, String> properties, String value, int hostCount) {
        if (!value.matches("[0-9]{1,6}")) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "connect_timeout is \"" + value + "\" in the URL",
                    "write whole seconds, from 0 (wait for ever) to 999999");
        }
        int seconds = Integer.parseInt(value);
        properties.put("connectTimeout", Integer.toString(seconds));
        if (seconds > 0) {
            properties.put("loginTimeout", Long.toString((long) seconds * hostCount));
        }
    }

    private static String serverType(String value) {
        String type = SERVER_TYPES.get(value);
        return type != null
                ? type
                : oneOf(
                        "target_session_attrs",
                        value,
                        List.of("any", "read-write", "read-only", "primary", "standby", "prefer-standby"));
    }

    private static String oneOf(String key, String value, List<String> allowed) {
        if (!allowed.contains(value)) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    key + " is \"" + value + "\" in the URL",
                    "it must be one of " + String.join(", ", allowed));
        }
        return value;
    }
}
