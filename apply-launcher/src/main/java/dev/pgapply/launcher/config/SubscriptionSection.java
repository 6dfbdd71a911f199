package dev.pgapply.launcher.config;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.subscription.SubscriptionOptions.Origin;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads one entry of {@code subscriptions}: its keys, ranges and defaults are here and nowhere else. */
final class SubscriptionSection {

    static final Set<String> KEYS = Set.of(
            "name",
            "publisher",
            "target",
            "publications",
            "slot_name",
            "enabled",
            "create_slot",
            "copy_data",
            "create_tables",
            "streaming",
            "two_phase",
            "binary",
            "origin",
            "synchronous_commit",
            "disable_on_error",
            "max_sync_workers_per_subscription",
            "max_parallel_apply_workers_per_subscription",
            "stream_send_timeout",
            "slot_create_timeout",
            "wal_receiver_status_interval",
            "wal_receiver_timeout",
            "receive_queue",
            "batch",
            "spool");
    static final Set<String> CONNECTION_KEYS = Set.of("url", "password", "password_file");
    static final Set<String> BATCH_KEYS = Set.of("max_rows", "max_bytes");
    static final Set<String> SPOOL_KEYS = Set.of("max_bytes");

    private static final int MAX_NAME_BYTES = 63;
    private static final List<String> SYNCHRONOUS_COMMIT =
            List.of("off", "local", "remote_write", "remote_apply", "on");

    private static final int MAX_SYNC_WORKERS = 64;
    private static final int MAX_PARALLEL_APPLY_WORKERS = 64;
    private static final long KILOBYTE = 1024;
    private static final long MEGABYTE = 1024 * KILOBYTE;
    private static final long MAX_SPOOL_BYTES = 1024 * 1024 * 1024 * MEGABYTE;

    private final Section section;
    private final Path folder;
    private final String defaultUser;

    /** @param folder what a relative {@code password_file} is relative to */
    SubscriptionSection(Section section, Path folder, String defaultUser) {
        this.section = section;
        this.folder = folder;
        this.defaultUser = defaultUser;
    }

    SubscriptionOptions read() {
        String name = name();
        requireCopyOnlyOfOwnSlot();
        Section batch = section.section("batch", BATCH_KEYS);
        return new SubscriptionOptions(
                name,
                connection("publisher"),
                connection("target"),
                publications(),
                slotName(name),
                section.bool("enabled", true),
                section.bool("create_slot", true),
                section.bool("copy_data", true),
                CreateTables.valueOf(section.oneOf("create_tables", "none", List.of("none", "missing"))
                        .toUpperCase(Locale.ROOT)),
                StreamingMode.valueOf(section.oneOf("streaming", "parallel", List.of("off", "on", "parallel"))
                        .toUpperCase(Locale.ROOT)),
                section.bool("two_phase", false),
                BinaryMode.valueOf(section.oneOf("binary", "auto", List.of("auto", "true", "false"))
                        .toUpperCase(Locale.ROOT)),
                Origin.valueOf(
                        section.oneOf("origin", "any", List.of("any", "none")).toUpperCase(Locale.ROOT)),
                section.oneOf("synchronous_commit", "off", SYNCHRONOUS_COMMIT),
                section.bool("disable_on_error", false),
                section.number("max_sync_workers_per_subscription", 2, 1, MAX_SYNC_WORKERS),
                section.number("max_parallel_apply_workers_per_subscription", 2, 0, MAX_PARALLEL_APPLY_WORKERS),
                section.duration(
                        "stream_send_timeout",
                        Duration.ofSeconds(10),
                        Duration.ofMillis(100),
                        Duration.ofHours(1),
                        false),
                section.duration(
                        "slot_create_timeout", Duration.ZERO, Duration.ofSeconds(1), Duration.ofDays(30), true),
                section.duration(
                        "wal_receiver_status_interval",
                        Duration.ofSeconds(10),
                        Duration.ofMillis(100),
                        Duration.ofHours(1),
                        false),
                section.duration(
                        "wal_receiver_timeout",
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(1),
                        Duration.ofHours(24),
                        true),
                section.bytes("receive_queue", 16 * MEGABYTE, KILOBYTE, 1024 * MEGABYTE),
                new BatchLimits(
                        batch.number("max_rows", 20_000, 1, 10_000_000),
                        batch.bytes("max_bytes", 16 * MEGABYTE, KILOBYTE, 1024 * MEGABYTE)),
                section.section("spool", SPOOL_KEYS).bytes("max_bytes", 0, 0, MAX_SPOOL_BYTES));
    }

    private String name() {
        String name = section.required("name");
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_NAME_BYTES || name.chars().anyMatch(Character::isISOControl)) {
            throw section.outOfRange("name", name, "1 to 63 bytes long, without control characters");
        }
        return name;
    }

    /** The copy needs the snapshot that comes with the slot's creation. */
    private void requireCopyOnlyOfOwnSlot() {
        if (!section.bool("create_slot", true) && section.bool("copy_data", true)) {
            throw ConfigErrors.refused(
                    "\"" + section.pathOf("copy_data") + "\" is true although \"" + section.pathOf("create_slot")
                            + "\" is false (" + section.placeOf("create_slot") + ")",
                    "set copy_data: false; a slot that exists already has no snapshot to copy from");
        }
    }

    private List<String> publications() {
        List<String> publications = section.texts("publications");
        if (publications.isEmpty()) {
            throw ConfigErrors.refused(
                    "\"" + section.pathOf("publications") + "\" is missing (" + section.placeOf("publications") + ")",
                    "name at least one publication: [orders_pub]");
        }
        Set<String> seen = new HashSet<>();
        for (String publication : publications) {
            if (publication.isEmpty() || publication.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
                throw section.outOfRange("publications", publication, "a list of names of 1 to 63 bytes");
            }
            if (!seen.add(publication)) {
                // subscriptioncmds.c, publicationListToArray
                throw ConfigErrors.refused(
                        "\"" + section.pathOf("publications") + "\" names \"" + publication + "\" twice ("
                                + section.placeOf("publications") + ")",
                        "name it once");
            }
        }
        return publications;
    }

    private String slotName(String name) {
        String given = section.text("slot_name");
        if (given == null && !SubscriptionOptions.SLOT_NAME.matcher(name).matches()) {
            throw ConfigErrors.refused(
                    "\"" + section.pathOf("slot_name") + "\" is missing (" + section.place() + "): the name \"" + name
                            + "\" is no valid slot name",
                    "give a slot_name of 1 to 63 characters a to z, 0 to 9 and underscore");
        }
        String slotName = given == null ? name : given;
        if (!SubscriptionOptions.SLOT_NAME.matcher(slotName).matches()) {
            throw section.outOfRange("slot_name", slotName, "1 to 63 characters a to z, 0 to 9 and underscore");
        }
        return slotName;
    }

    private ConnectionUrl connection(String key) {
        if (!section.has(key)) {
            throw ConfigErrors.refused(
                    "\"" + section.pathOf(key) + ".url\" is missing (" + section.place() + ")",
                    "write " + key + ": { url: \"postgresql://user@host:5432/database\" }");
        }
        Section connection = section.section(key, CONNECTION_KEYS);
        String url = connection.required("url");
        String password = password(connection);
        try {
            return ConnectionUrl.parse(url, password, defaultUser);
        } catch (ApplyException e) {
            String hint = e.hint();
            throw ConfigErrors.refused(
                    "\"" + connection.pathOf("url") + "\" (" + connection.placeOf("url") + "): " + e.getMessage(),
                    hint == null ? "correct the URL" : hint);
        }
    }

    private @Nullable String password(Section connection) {
        String file = connection.text("password_file");
        String password = connection.text("password");
        if (file == null) {
            return password;
        }
        if (password != null) {
            throw ConfigErrors.refused(
                    "both \"" + connection.pathOf("password") + "\" and \"" + connection.pathOf("password_file")
                            + "\" are given (" + connection.placeOf("password_file") + ")",
                    "leave one of them");
        }
        Path path = folder.resolve(file);
        try {
            // A file made by an editor or by echo ends with a line feed that is no part of the password.
            return Files.readString(path).replaceFirst("\\r?\\n\\z", "");
        } catch (IOException e) {
            throw ConfigErrors.refused(
                    "\"" + connection.pathOf("password_file") + "\" is \"" + file + "\" ("
                            + connection.placeOf("password_file") + "): the file cannot be read",
                    "check that " + path.toAbsolutePath() + " exists and may be read");
        }
    }
}
