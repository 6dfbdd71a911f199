package dev.pgapply.launcher.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.pgapply.core.ApplyException;
import dev.pgapply.launcher.config.ConfigNode.Empty;
import dev.pgapply.launcher.config.ConfigNode.Mapping;
import dev.pgapply.launcher.config.ConfigNode.Scalar;
import dev.pgapply.launcher.config.ConfigNode.Sequence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Reads YAML token by token into {@link ConfigNode}s, because only tokens know their lines. One document of plain maps, lists and
 * values: aliases and a key given twice are refused.
 */
final class YamlFile {

    private final YAMLParser parser;

    private YamlFile(YAMLParser parser) {
        this.parser = parser;
    }

    static Mapping read(String text) {
        try (YAMLParser parser = new YAMLFactory().createParser(text)) {
            return new YamlFile(parser).document();
        } catch (JsonProcessingException e) {
            // The parser's message quotes the line it stopped at, which may hold a password.
            String problem = e.getOriginalMessage()
                    .lines()
                    .filter(line -> !line.startsWith(" "))
                    .collect(Collectors.joining(": "));
            int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
            throw ConfigErrors.refused(
                    "the configuration is no valid YAML at line " + line + ": " + problem,
                    "check the indentation, and quote values that begin with a special character");
        } catch (IOException e) {
            throw ConfigErrors.refused("the configuration cannot be read: " + e.getMessage(), "check the file");
        }
    }

    private Mapping document() throws IOException {
        JsonToken first = parser.nextToken();
        if (first == null || first == JsonToken.VALUE_NULL) {
            throw ConfigErrors.refused("the configuration is empty", "write at least subscriptions: with one entry");
        }
        if (first != JsonToken.START_OBJECT) {
            throw ConfigErrors.refused(
                    "the configuration is no map of keys (" + place() + ")",
                    "write keys such as subscriptions: at the top");
        }
        Mapping root = mapping();
        if (parser.nextToken() != null) {
            throw ConfigErrors.refused("the configuration has a second document (" + place() + ")", "leave one");
        }
        return root;
    }

    private ConfigNode node() throws IOException {
        if (parser.isCurrentAlias()) {
            throw ConfigErrors.refused(
                    "the configuration has an alias (" + place() + ")", "quote a value that begins with *");
        }
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            return mapping();
        }
        if (parser.currentToken() == JsonToken.START_ARRAY) {
            return sequence();
        }
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return new Empty(place());
        }
        return new Scalar(parser.getText(), false, place());
    }

    private Mapping mapping() throws IOException {
        String start = place();
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            String place = place();
            parser.nextToken();
            if (entries.containsKey(key)) {
                throw twice(key, place);
            }
            entries.put(key, node());
        }
        return new Mapping(entries, start);
    }

    private Sequence sequence() throws IOException {
        String start = place();
        List<ConfigNode> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(node());
        }
        return new Sequence(items, start);
    }

    private static ApplyException twice(String key, String place) {
        return ConfigErrors.refused("key \"" + key + "\" is given twice (" + place + ")", "leave one");
    }

    private String place() {
        return "line " + parser.currentTokenLocation().getLineNr();
    }
}
