package dev.pgapply.launcher.config;

import dev.pgapply.launcher.config.ConfigNode.Empty;
import dev.pgapply.launcher.config.ConfigNode.Mapping;
import dev.pgapply.launcher.config.ConfigNode.Scalar;
import dev.pgapply.launcher.config.ConfigNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Lays environment variables over the file: {@code PGAPPLY_STATE_DIRECTORY}, {@code PGAPPLY_HTTP__…} and
 * {@code PGAPPLY_SUBSCRIPTIONS__<index>__…}, with two underscores between the steps of a key's path. Keys below these prefixes are
 * validated like the file's; all other {@code PGAPPLY_} variables are no configuration.
 */
final class EnvironmentOverrides {

    private static final String STATE_DIRECTORY = "PGAPPLY_STATE_DIRECTORY";
    private static final String HTTP = "PGAPPLY_HTTP__";
    private static final String SUBSCRIPTIONS = "PGAPPLY_SUBSCRIPTIONS__";

    /** One of DESIGN's own names that does not work yet; to ignore it would be worse than to refuse it. */
    private static final String MANAGED = "PGAPPLY_MANAGED";

    private EnvironmentOverrides() {}

    static void apply(Mapping root, Map<String, String> environment) {
        // Sorted by the steps, so that an entry 2 is made before an entry 10 is reached.
        Map<String, String> sorted =
                new TreeMap<>((a, b) -> a.length() != b.length() ? a.length() - b.length() : a.compareTo(b));
        environment.forEach((name, value) -> {
            if (name.equals(STATE_DIRECTORY) || name.startsWith(HTTP) || name.startsWith(SUBSCRIPTIONS)) {
                sorted.put(name, value);
            } else if (name.equals(MANAGED)) {
                throw ConfigErrors.refused(
                        "environment variable " + MANAGED + " is not supported yet", "unset the variable");
            }
        });
        indexes(sorted).forEach((index, name) -> makeSubscription(root, index, name));
        sorted.forEach((name, value) -> set(root, name, value));
    }

    private static Map<Integer, String> indexes(Map<String, String> variables) {
        Map<Integer, String> indexes = new TreeMap<>();
        for (String name : variables.keySet()) {
            if (name.startsWith(SUBSCRIPTIONS)) {
                indexes.putIfAbsent(index(name.substring(SUBSCRIPTIONS.length()).split("__", 2)[0], name), name);
            }
        }
        return indexes;
    }

    private static void makeSubscription(Mapping root, int index, String name) {
        String place = place(name);
        ConfigNode list = root.entries().get("subscriptions");
        if (list == null || list instanceof Empty) {
            list = new Sequence(new ArrayList<>(), place);
            root.entries().put("subscriptions", list);
        }
        if (list instanceof Sequence sequence) {
            extend(sequence.items(), index, name, new Mapping(new LinkedHashMap<>(), place));
        }
    }

    private static void extend(List<ConfigNode> items, int index, String name, ConfigNode added) {
        if (index > items.size()) {
            throw ConfigErrors.refused(
                    place(name) + " has the index " + index + ", but there are only " + items.size()
                            + " entries before it",
                    "count from 0 without gaps");
        }
        if (index == items.size()) {
            items.add(added);
        }
    }

    private static void set(Mapping root, String name, String value) {
        String place = place(name);
        Scalar scalar = new Scalar(value, true, place);
        if (name.equals(STATE_DIRECTORY)) {
            root.entries().put("state_directory", scalar);
            return;
        }
        String[] steps =
                name.substring("PGAPPLY_".length()).toLowerCase(Locale.ROOT).split("__", -1);
        ConfigNode parent = root;
        for (int i = 0; i < steps.length - 1; i++) {
            ConfigNode child = child(parent, steps[i], name);
            if (child == null || child instanceof Empty || child instanceof Scalar) {
                boolean list = isIndex(steps[i + 1]);
                child = list ? new Sequence(new ArrayList<>(), place) : new Mapping(new LinkedHashMap<>(), place);
                put(parent, steps[i], name, child);
            }
            parent = child;
        }
        put(parent, steps[steps.length - 1], name, scalar);
    }

    private static @Nullable ConfigNode child(ConfigNode parent, String step, String name) {
        if (parent instanceof Mapping mapping) {
            return mapping.entries().get(step);
        }
        if (parent instanceof Sequence sequence) {
            int index = index(step, name);
            return index < sequence.items().size() ? sequence.items().get(index) : null;
        }
        return null;
    }

    private static void put(ConfigNode parent, String step, String name, ConfigNode value) {
        if (parent instanceof Mapping mapping) {
            mapping.entries().put(step, value);
        } else if (parent instanceof Sequence sequence) {
            int index = index(step, name);
            extend(sequence.items(), index, name, value);
            sequence.items().set(index, value);
        }
    }

    private static int index(String step, String name) {
        if (!isIndex(step)) {
            throw ConfigErrors.refused(
                    place(name) + " has \"" + step + "\" where a list's index belongs",
                    "count from 0: PGAPPLY_SUBSCRIPTIONS__0__…");
        }
        return Integer.parseInt(step);
    }

    private static boolean isIndex(String step) {
        return step.matches("[0-9]{1,4}");
    }

    private static String place(String name) {
        return "environment variable " + name;
    }
}
