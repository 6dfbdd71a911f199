package dev.pgapply.core.subscription;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A connection URI as libpq reads it (fe-connect.c, conninfo_uri_parse_options), translated to the driver's terms. The user's part
 * ends at the first {@code @} before any {@code /}, as there.
 */
final class LibpqUri {

    private static final String DEFAULT_PORT = "5432";

    /** A host with its port; an IPv6 address keeps its brackets, which the driver wants. */
    private record Host(String name, String port) {
        @Override
        public String toString() {
            return name + ":" + port;
        }
    }

    private LibpqUri() {}

    /** @param rest what follows {@code ://} */
    static ConnectionUrl parse(String rest, @Nullable String password, String defaultUser) {
        int authorityEnd = endOfCredentials(rest);
        String credentials = authorityEnd < 0 ? "" : rest.substring(0, authorityEnd);
        String address = rest.substring(authorityEnd + 1);

        int hostsEnd = firstOf(address, 0, "/?");
        List<Host> hosts = hosts(address.substring(0, hostsEnd));
        int databaseEnd = address.indexOf('?', hostsEnd);
        databaseEnd = databaseEnd < 0 ? address.length() : databaseEnd;
        String rawDatabase = address.substring(Math.min(hostsEnd + 1, databaseEnd), databaseEnd);
        if (rawDatabase.indexOf('@') >= 0) {
            // Most likely an unescaped / in the password; as the database's name it would be shown.
            throw unescaped();
        }
        String database = decode("database name", rawDatabase);

        int colon = credentials.indexOf(':');
        String user = decode("user", colon < 0 ? credentials : credentials.substring(0, colon));
        String urlPassword = colon < 0 ? "" : decode("password", credentials.substring(colon + 1));

        user = user.isEmpty() ? defaultUser : user;
        database = database.isEmpty() ? user : database;

        String parameters = databaseEnd < address.length() ? address.substring(databaseEnd + 1) : "";
        Map<String, String> properties = new TreeMap<>(LibpqParameters.translate(parameters(parameters), hosts.size()));
        properties.put("user", user);
        String effective = password != null ? password : urlPassword;
        if (!effective.isEmpty()) {
            properties.put("password", effective);
        }
        String where = String.join(",", hosts.stream().map(Host::toString).toList());
        return new ConnectionUrl(
                "jdbc:postgresql://" + where + "/" + PercentEncoding.encode(database),
                properties,
                "postgresql://" + user + "@" + where + "/" + database);
    }

    private static int endOfCredentials(String rest) {
        int end = firstOf(rest, 0, "@/");
        return end < rest.length() && rest.charAt(end) == '@' ? end : -1;
    }

    private static List<Host> hosts(String text) {
        if (text.indexOf('@') >= 0) {
            throw unescaped();
        }
        List<Host> hosts = new ArrayList<>();
        for (String one : text.split(",", -1)) {
            hosts.add(host(one));
        }
        return hosts;
    }

    private static Host host(String text) {
        int portAt;
        String name;
        if (text.startsWith("[")) {
            int bracket = text.indexOf(']');
            if (bracket < 2 || (bracket + 1 < text.length() && text.charAt(bracket + 1) != ':')) {
                throw invalid("the URL has an IPv6 address that does not end in ]", "write [::1]:5432");
            }
            name = text.substring(0, bracket + 1);
            portAt = bracket + 1;
        } else {
            int colon = text.indexOf(':');
            portAt = colon < 0 ? text.length() : colon;
            name = decode("host", text.substring(0, portAt));
        }
        if (name.startsWith("/")) {
            throw invalid("the URL names a Unix-domain socket, which the driver cannot use", "name a host and port");
        }
        if (name.indexOf(',') >= 0 || name.indexOf('/') >= 0 || name.indexOf('?') >= 0) {
            throw invalid("the URL has a host with a character that no host name has", "write host:port");
        }
        String port = portAt + 1 < text.length() ? text.substring(portAt + 1) : DEFAULT_PORT;
        if (!isPort(port)) {
            // The text is not shown: with an unescaped / in the password it would be a part of the password.
            throw invalid(
                    "the URL has a port that is no number from 1 to 65535",
                    "write host:port; percent-encode / : @ % in a user or password, or use the key password");
        }
        return new Host(name.isEmpty() ? "localhost" : name, port);
    }

    private static boolean isPort(String text) {
        if (text.length() > 5 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return false;
        }
        int port = Integer.parseInt(text);
        return port >= 1 && port <= 65535;
    }

    private static Map<String, String> parameters(String text) {
        Map<String, String> parameters = new TreeMap<>();
        Set<String> seen = new HashSet<>();
        for (String pair : text.isEmpty() ? new String[0] : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals < 1 || pair.indexOf('=', equals + 1) >= 0) {
                throw invalid(
                        "the URL has a parameter that is not of the form key=value",
                        "percent-encode = in a value as %3D");
            }
            String key = decode("parameter", pair.substring(0, equals));
            if (!seen.add(key)) {
                throw invalid("the URL has the parameter \"" + key + "\" twice", "leave one");
            }
            parameters.put(key, decode("parameter " + key, pair.substring(equals + 1)));
        }
        return parameters;
    }

    private static String decode(String what, String text) {
        try {
            return PercentEncoding.decode(text);
        } catch (IllegalArgumentException e) {
            throw invalid("the URL's " + what + " has " + e.getMessage(), "write a percent sign as %25");
        }
    }

    private static int firstOf(String text, int from, String characters) {
        for (int i = from; i < text.length(); i++) {
            if (characters.indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return text.length();
    }

    private static ApplyException unescaped() {
        return invalid(
                "the URL has an @ that is not percent-encoded in its user or password",
                "write @ as %40, / as %2F, : as %3A and % as %25, or use the key password");
    }

    private static ApplyException invalid(String message, String hint) {
        return ApplyException.withHint(Kind.CONFIGURATION, message, hint);
    }
}
