package dev.pgapply.launcher.config;

import dev.pgapply.launcher.config.ConfigNode.Mapping;
import dev.pgapply.launcher.config.ConfigNode.Scalar;
import dev.pgapply.launcher.config.ConfigNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts the environment's variables into values: <code>${NAME}</code>, or <code>${NAME:-default}</code> where the variable may be
 * undefined or empty, as in a shell. What a variable holds is a value and nothing else: it is not interpolated again and is no YAML.
 */
final class Interpolation {

    private static final Pattern REFERENCE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?}");

    private final Map<String, String> environment;

    Interpolation(Map<String, String> environment) {
        this.environment = environment;
    }

    Mapping apply(Mapping mapping, String path) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        mapping.entries()
                .forEach((key, value) -> entries.put(key, apply(value, path.isEmpty() ? key : path + "." + key)));
        return new Mapping(entries, mapping.place());
    }

    private ConfigNode apply(ConfigNode node, String path) {
        if (node instanceof Mapping mapping) {
            return apply(mapping, path);
        }
        if (node instanceof Sequence sequence) {
            List<ConfigNode> items = new ArrayList<>();
            for (ConfigNode item : sequence.items()) {
                items.add(apply(item, path + "[" + items.size() + "]"));
            }
            return new Sequence(items, sequence.place());
        }
        if (node instanceof Scalar scalar && !scalar.literal()) {
            return new Scalar(text(scalar, path), true, scalar.place());
        }
        return node;
    }

    private String text(Scalar scalar, String path) {
        Matcher matcher = REFERENCE.matcher(scalar.text());
        StringBuilder result = new StringBuilder();
        int position = 0;
        while (matcher.find()) {
            literal(result, scalar, position, matcher.start(), path);
            result.append(value(matcher, scalar, path));
            position = matcher.end();
        }
        literal(result, scalar, position, scalar.text().length(), path);
        return result.toString();
    }

    private static void literal(StringBuilder result, Scalar scalar, int start, int end, String path) {
        String literal = scalar.text().substring(start, end);
        if (literal.contains("${")) {
            throw ConfigErrors.refused(
                    "\"" + path + "\" has a ${ that begins no variable (" + scalar.place() + ")",
                    "write ${NAME} or ${NAME:-default}; a value with ${ in it must come from a variable");
        }
        result.append(literal);
    }

    private String value(Matcher matcher, Scalar scalar, String path) {
        String name = matcher.group(1);
        String value = environment.get(name);
        String fallback = matcher.group(3);
        if (matcher.group(2) != null && (value == null || value.isEmpty())) {
            return fallback == null ? "" : fallback;
        }
        if (value == null) {
            throw ConfigErrors.refused(
                    "\"" + path + "\" needs the environment variable " + name + ", which is not defined ("
                            + scalar.place() + ")",
                    "define it, or write ${" + name + ":-default}");
        }
        return value;
    }
}
