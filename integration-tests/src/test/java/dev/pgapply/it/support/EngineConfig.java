package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The configuration file of an engine. It is written into a directory of its own, with a state directory and a free port. Passwords
 * are given by reference to {@value #PASSWORD_VARIABLE}, which {@link EngineProcess} sets.
 *
 * @param file the YAML file
 * @param port the HTTP port
 * @param text what the file holds
 */
public record EngineConfig(Path file, int port, String text, List<Subscription> subscriptions) {

    /** The environment variable with the password of both servers. */
    public static final String PASSWORD_VARIABLE = "PGAPPLY_IT_PASSWORD";

    public EngineConfig {
        subscriptions = List.copyOf(subscriptions);
    }

    /** What tests need to know of a subscription. */
    public record Subscription(String name, String slotName, Database publisher) {}

    public static Builder subscription(String name) {
        return new Builder().and(name);
    }

    /** The file with this text and a free port in place of {@code ${PORT}}; for texts that no builder would write. */
    public static EngineConfig ofText(String text) {
        return write(RunOptions.newDirectory("engine"), text, List.of());
    }

    private static EngineConfig write(Path directory, String text, List<Subscription> subscriptions) {
        int port = Processes.freePort();
        String filled = text.replace("${PORT}", Integer.toString(port));
        Path file = directory.resolve("pgapply.yaml");
        try {
            Files.createDirectories(directory);
            Files.writeString(file, filled);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new EngineConfig(file, port, filled, subscriptions);
    }

    /** The same subscriptions for another engine: own port, own state directory. */
    public EngineConfig forAnotherEngine() {
        Path directory = RunOptions.newDirectory("engine");
        String changed = text.replace("127.0.0.1:" + port + "\"", "127.0.0.1:${PORT}\"")
                .replace(directory().toString(), directory.toString());
        return write(directory, changed, subscriptions);
    }

    /** The directory that is this engine's alone. */
    public Path directory() {
        return Objects.requireNonNull(file.getParent());
    }

    /** The state directory, below the file's own directory. */
    public Path stateDirectory() {
        return file.resolveSibling("state");
    }

    /** Collects subscriptions with their options in YAML's flow style, JSON-quoted. */
    public static final class Builder {
        private final List<Map<String, String>> subscriptions = new ArrayList<>();
        private final List<Database> publishers = new ArrayList<>();
        private final Map<String, String> top = new LinkedHashMap<>();

        private Builder() {}

        /** Begins one more subscription; what follows is about it. */
        public Builder and(String name) {
            subscriptions.add(new LinkedHashMap<>());
            return option("name", quoted(name));
        }

        /** A key of the current subscription with its value as YAML text, in place of an earlier one. */
        public Builder option(String key, String yaml) {
            subscriptions.get(subscriptions.size() - 1).put(key, yaml);
            return this;
        }

        /** A key of the file's top level with its value as YAML text. */
        public Builder top(String key, String yaml) {
            top.put(key, yaml);
            return this;
        }

        public Builder from(Database publisher) {
            return from(publisher, publisher.libpqUrl());
        }

        /** The publisher under another URL, such as one through a proxy. */
        public Builder from(Database publisher, String url) {
            publishers.add(publisher);
            return option("publisher", endpoint(url));
        }

        public Builder to(Database target) {
            return to(target.libpqUrl());
        }

        public Builder to(String url) {
            return option("target", endpoint(url));
        }

        public Builder publications(String... names) {
            List<String> quoted = new ArrayList<>();
            for (String name : names) {
                quoted.add(quoted(name));
            }
            return option("publications", "[" + String.join(", ", quoted) + "]");
        }

        private static String endpoint(String url) {
            return "{ url: " + quoted(url) + ", password: \"${" + PASSWORD_VARIABLE + "}\" }";
        }

        private static String quoted(String text) {
            return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        }

        public EngineConfig build() {
            Path directory = RunOptions.newDirectory("engine");
            StringBuilder yaml = new StringBuilder();
            top.putIfAbsent("http", "{ address: \"127.0.0.1:${PORT}\" }");
            top.putIfAbsent("state_directory", quoted(directory.resolve("state").toString()));
            top.forEach(
                    (key, value) -> yaml.append(key).append(": ").append(value).append('\n'));
            yaml.append("subscriptions:\n");
            List<Subscription> described = new ArrayList<>();
            for (int i = 0; i < subscriptions.size(); i++) {
                String indent = "  - ";
                for (Map.Entry<String, String> option : subscriptions.get(i).entrySet()) {
                    yaml.append(indent)
                            .append(option.getKey())
                            .append(": ")
                            .append(option.getValue())
                            .append('\n');
                    indent = "    ";
                }
                described.add(describe(subscriptions.get(i), publishers.get(i)));
            }
            return write(directory, yaml.toString(), described);
        }

        private static Subscription describe(Map<String, String> options, Database publisher) {
            String name = unquoted(options.getOrDefault("name", ""));
            return new Subscription(name, unquoted(options.getOrDefault("slot_name", name)), publisher);
        }

        private static String unquoted(String yaml) {
            return yaml.startsWith("\"")
                    ? yaml.substring(1, yaml.length() - 1).replace("\\\"", "\"").replace("\\\\", "\\")
                    : yaml;
        }
    }
}
