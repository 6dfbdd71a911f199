package dev.pgapply.launcher.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the HTTP server listens.
 *
 * @param host without brackets
 * @param port 0: any free port
 */
public record HttpAddress(String host, int port) {

    private static final Pattern TEXT = Pattern.compile("(\\[([0-9a-fA-F:.%]+)]|[^:\\s\\[\\]/]+):([0-9]{1,5})");

    /** Reads {@code host:port} or {@code [ipv6]:port}; null if the text is neither. */
    static @Nullable HttpAddress parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(3)) > 65535) {
            return null;
        }
        String bracketed = matcher.group(2);
        return new HttpAddress(bracketed != null ? bracketed : matcher.group(1), Integer.parseInt(matcher.group(3)));
    }

    /** Judged by the text alone: a name that has to be looked up is not trusted to be loopback, except {@code localhost}. */
    public boolean isLoopback() {
        return host.equals("localhost")
                || host.matches("127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}")
                || host.equals("::1")
                || host.equals("0:0:0:0:0:0:0:1");
    }

    /** As a client's URL wants it. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
