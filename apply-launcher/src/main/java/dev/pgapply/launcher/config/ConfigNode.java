package dev.pgapply.launcher.config;

import java.util.List;
import java.util.Map;

/**
 * What the configuration says before it is validated: texts, lists and maps, each with its place for messages ({@code line 12} or
 * {@code environment variable PGAPPLY_HTTP__ADDRESS}).
 */
sealed interface ConfigNode {

    String place();

    /**
     * A value as its text: types are decided by the key, not by YAML.
     *
     * @param literal whether it is meant as it is: it came from a variable and is not interpolated
     */
    record Scalar(String text, boolean literal, String place) implements ConfigNode {}

    /** A key with nothing behind it. */
    record Empty(String place) implements ConfigNode {}

    record Sequence(List<ConfigNode> items, String place) implements ConfigNode {}

    /** @param entries in the order of the file */
    record Mapping(Map<String, ConfigNode> entries, String place) implements ConfigNode {}
}
