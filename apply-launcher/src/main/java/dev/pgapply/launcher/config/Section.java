package dev.pgapply.launcher.config;

import dev.pgapply.core.ApplyException;
import dev.pgapply.launcher.config.ConfigNode.Empty;
import dev.pgapply.launcher.config.ConfigNode.Mapping;
import dev.pgapply.launcher.config.ConfigNode.Scalar;
import dev.pgapply.launcher.config.ConfigNode.Sequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One map of the configuration, read by typed keys. A key that is not known, has no value, or has one out of range is refused with
 * its path and place.
 */
final class Section {

    private final String path;
    private final Map<String, ConfigNode> entries;
    private final String place;

    /** @param path of this map from the top, empty for the top itself */
    Section(String path, ConfigNode node, Set<String> knownKeys) {
        if (!(node instanceof Mapping mapping)) {
            throw ConfigErrors.refused(
                    "\"" + path + "\" is no map of keys (" + node.place() + ")",
                    "known keys are "
                            + String.join(", ", knownKeys.stream().sorted().toList()));
        }
        this.path = path;
        this.entries = mapping.entries();
        this.place = mapping.place();
        entries.forEach((key, value) -> {
            if (!knownKeys.contains(key)) {
                throw ConfigErrors.unknownKey(pathOf(key), key, value.place(), knownKeys);
            }
        });
    }

    String pathOf(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    String place() {
        return place;
    }

    String placeOf(String key) {
        ConfigNode node = entries.get(key);
        return node == null ? place : node.place();
    }

    boolean has(String key) {
        return entries.containsKey(key);
    }

    Section section(String key, Set<String> knownKeys) {
        ConfigNode node = entries.get(key);
        return new Section(pathOf(key), node == null ? new Mapping(new LinkedHashMap<>(), place) : node, knownKeys);
    }

    /** The maps of a list, in order; none where the key is absent. */
    List<Section> sections(String key, Set<String> knownKeys) {
        ConfigNode node = entries.get(key);
        if (node == null) {
            return List.of();
        }
        if (!(node instanceof Sequence sequence)) {
            throw ConfigErrors.refused(
                    "\"" + pathOf(key) + "\" is no list (" + node.place() + ")", "begin each entry with a dash");
        }
        List<Section> sections = new ArrayList<>();
        for (ConfigNode item : sequence.items()) {
            sections.add(new Section(pathOf(key) + "[" + sections.size() + "]", item, knownKeys));
        }
        return sections;
    }

    @Nullable
    String text(String key) {
        ConfigNode node = entries.get(key);
        if (node == null) {
            return null;
        }
        if (node instanceof Scalar scalar) {
            return scalar.text();
        }
        throw ConfigErrors.refused(
                "\"" + pathOf(key) + "\" has " + (node instanceof Empty ? "no value" : "more than one value") + " ("
                        + node.place() + ")",
                "give it one value");
    }

    String text(String key, String otherwise) {
        String text = text(key);
        return text == null ? otherwise : text;
    }

    String required(String key) {
        String text = text(key);
        if (text == null || text.isEmpty()) {
            throw ConfigErrors.refused(
                    "\"" + pathOf(key) + "\" is missing (" + (text == null ? place : placeOf(key)) + ")",
                    "add the key");
        }
        return text;
    }

    /** A list of texts, or one text with commas between, as an environment variable has it. */
    List<String> texts(String key) {
        ConfigNode node = entries.get(key);
        if (node instanceof Sequence sequence) {
            List<String> texts = new ArrayList<>();
            for (ConfigNode item : sequence.items()) {
                if (!(item instanceof Scalar scalar)) {
                    throw ConfigErrors.refused(
                            "\"" + pathOf(key) + "[" + texts.size() + "]\" is no single value (" + item.place() + ")",
                            "write a list of names");
                }
                texts.add(scalar.text());
            }
            return texts;
        }
        String text = text(key);
        return text == null ? List.of() : List.of(text.split(",", -1));
    }

    boolean bool(String key, boolean otherwise) {
        String text = text(key);
        if (text == null) {
            return otherwise;
        }
        return switch (text) {
            case "true", "on" -> true;
            case "false", "off" -> false;
            default -> throw outOfRange(key, text, "true or false");
        };
    }

    String oneOf(String key, String otherwise, List<String> allowed) {
        String text = text(key, otherwise);
        if (!allowed.contains(text)) {
            throw outOfRange(key, text, "one of " + String.join(", ", allowed));
        }
        return text;
    }

    int number(String key, int otherwise, int least, int most) {
        String text = text(key);
        if (text == null) {
            return otherwise;
        }
        String range = "a whole number from " + least + " to " + most;
        if (!text.matches("-?[0-9]{1,10}")) {
            throw outOfRange(key, text, range);
        }
        long number = Long.parseLong(text);
        if (number < least || number > most) {
            throw outOfRange(key, text, range);
        }
        return (int) number;
    }

    /** @param zeroAllowed whether 0 may stand for "never", below the least */
    Duration duration(String key, Duration otherwise, Duration least, Duration most, boolean zeroAllowed) {
        String text = text(key);
        if (text == null) {
            return otherwise;
        }
        String range = "a time from " + Quantities.show(least) + " to " + Quantities.show(most)
                + (zeroAllowed ? ", or 0 for never" : "") + "; units are us, ms, s, min, h, d";
        Duration duration = Quantities.duration(text);
        boolean zero = duration != null && duration.isZero() && zeroAllowed;
        if (duration == null || (!zero && (duration.compareTo(least) < 0 || duration.compareTo(most) > 0))) {
            throw outOfRange(key, text, range);
        }
        return duration;
    }

    long bytes(String key, long otherwise, long least, long most) {
        String text = text(key);
        if (text == null) {
            return otherwise;
        }
        long bytes = Quantities.bytes(text);
        if (bytes < least || bytes > most) {
            throw outOfRange(
                    key,
                    text,
                    "a size from " + Quantities.show(least) + " to " + Quantities.show(most)
                            + "; units are B, kB, MB, GB (letter case matters)");
        }
        return bytes;
    }

    ApplyException outOfRange(String key, String value, String range) {
        return ConfigErrors.outOfRange(pathOf(key), value, placeOf(key), range);
    }
}
