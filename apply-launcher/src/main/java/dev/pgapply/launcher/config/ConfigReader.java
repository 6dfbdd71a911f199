package dev.pgapply.launcher.config;

import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.launcher.config.ConfigNode.Mapping;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads and validates a configuration file. Every refusal is an ApplyException of kind CONFIGURATION. */
public final class ConfigReader {

    static final Set<String> KEYS = Set.of("http", "state_directory", "subscriptions");
    static final Set<String> HTTP_KEYS = Set.of("address", "token");

    private static final String DEFAULT_ADDRESS = "127.0.0.1:8080";

    private final Map<String, String> environment;
    private final String defaultUser;

    /** @param defaultUser the operating system's user, for URLs that name none */
    public ConfigReader(Map<String, String> environment, String defaultUser) {
        this.environment = Map.copyOf(environment);
        this.defaultUser = defaultUser;
    }

    public LauncherConfig read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw ConfigErrors.refused(
                    "the configuration file \"" + file + "\" does not exist", "name it with -c FILE");
        } catch (MalformedInputException e) {
            throw ConfigErrors.refused("the configuration file \"" + file + "\" is not UTF-8", "save it as UTF-8");
        } catch (IOException e) {
            throw ConfigErrors.refused(
                    "the configuration file \"" + file + "\" cannot be read: " + e.getMessage(),
                    "check its permissions");
        }
        Path folder = file.toAbsolutePath().getParent();
        return parse(text, folder == null ? Path.of("") : folder);
    }

    LauncherConfig parse(String yaml, Path folder) {
        Mapping file = YamlFile.read(yaml);
        EnvironmentOverrides.apply(file, environment);
        Section top = new Section("", new Interpolation(environment).apply(file, ""), KEYS);
        Section http = top.section("http", HTTP_KEYS);
        String token = http.text("token", "");
        HttpAddress address = address(http, !token.isEmpty());
        return new LauncherConfig(
                address, token.isEmpty() ? null : token, stateDirectory(top), subscriptions(top, folder));
    }

    private static HttpAddress address(Section http, boolean hasToken) {
        String text = http.text("address", DEFAULT_ADDRESS);
        HttpAddress address = HttpAddress.parse(text);
        if (address == null) {
            throw http.outOfRange("address", text, "host:port with a port from 0 to 65535");
        }
        if (!address.isLoopback() && !hasToken) {
            throw ConfigErrors.refused(
                    "\"http.address\" is \"" + text + "\" (" + http.placeOf("address")
                            + "): an address other than loopback needs a token",
                    "set http.token, or listen on 127.0.0.1");
        }
        return address;
    }

    private static @Nullable Path stateDirectory(Section top) {
        String text = top.text("state_directory");
        if (text != null && text.isEmpty()) {
            throw top.outOfRange("state_directory", text, "the path of a directory");
        }
        return text == null ? null : Path.of(text);
    }

    private List<SubscriptionOptions> subscriptions(Section top, Path folder) {
        List<SubscriptionOptions> all = new ArrayList<>();
        Map<String, Section> byName = new HashMap<>();
        Map<String, Section> bySlot = new HashMap<>();
        for (Section section : top.sections("subscriptions", SubscriptionSection.KEYS)) {
            SubscriptionOptions options = new SubscriptionSection(section, folder, defaultUser).read();
            Section sameName = byName.putIfAbsent(options.name(), section);
            if (sameName != null) {
                throw ConfigErrors.refused(
                        "\"" + section.pathOf("name") + "\" is \"" + options.name() + "\" (" + section.placeOf("name")
                                + "), as is \"" + sameName.pathOf("name") + "\"",
                        "give each subscription a name of its own");
            }
            // Slots belong to the server, not to one of its databases.
            Section sameSlot = bySlot.putIfAbsent(options.publisher().authority() + " " + options.slotName(), section);
            if (sameSlot != null) {
                throw ConfigErrors.refused(
                        "\"" + section.pathOf("slot_name") + "\" is \"" + options.slotName() + "\" ("
                                + section.placeOf("slot_name") + "), as is \"" + sameSlot.pathOf("slot_name")
                                + "\" on the same publisher",
                        "give each subscription of a publisher a slot of its own");
            }
            all.add(options);
        }
        if (all.isEmpty()) {
            throw ConfigErrors.refused(
                    "\"subscriptions\" is missing (" + top.placeOf("subscriptions") + ")", "add at least one entry");
        }
        return all;
    }
}
