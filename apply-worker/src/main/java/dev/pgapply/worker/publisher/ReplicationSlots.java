package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Drops the subscription's replication slots and ends what holds them; {@link SlotCreation} creates them. Stateless; each call uses connections of its own, on the caller's thread.
 */
public final class ReplicationSlots {

    private static final String UNDEFINED_OBJECT = "42704";
    private static final String QUERY_CANCELED = "57014";

    private final PostgresConnections publisher;
    private final String applicationName;

    /** @param applicationName what the subscription's walsenders are called: its name */
    public ReplicationSlots(PostgresConnections publisher, String applicationName) {
        this.publisher = publisher;
        this.applicationName = applicationName;
    }

    /**
     * Ends the walsender that uses the slot if it is one of this subscription's, by its application_name: a leftover of an engine that
     * is gone. Harmless if there is none.
     *
     * @throws ApplyException of kind SLOT_IN_USE if somebody else uses the slot
     */
    public void endOwnWalsender(PublisherCatalog catalog, Connection connection, String slotName, int major) {
        ReplicationSlot slot = catalog.slot(slotName, major);
        if (slot == null) {
            return;
        }
        Integer pid = slot.activePid();
        if (pid == null) {
            return;
        }
        if (!isUsedByOwn(slot)) {
            throw inUse(slot);
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_terminate_backend(?)")) {
            statement.setInt(1, pid);
            statement.execute();
        } catch (SQLException e) {
            throw PostgresErrors.translate(
                    "could not end the walsender of replication slot \"" + slotName + "\", pid " + pid, e);
        }
    }

    /** What the slots of a subscription are called that live only as long as a table's snapshot is made; a number follows. */
    public static String temporaryPrefix(int subid) {
        return "pgapply_" + subid + "_sync_";
    }

    /** Ends the walsenders that make such slots for an engine that is gone; the slots go with them. */
    public static void endTemporary(Connection connection, int subid) {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                        + " WHERE temporary AND starts_with(slot_name::text, ?) AND active_pid IS NOT NULL"
                        + " AND database = current_database()")) {
            statement.setString(1, temporaryPrefix(subid));
            statement.execute();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not end the walsenders of unfinished copies", e);
        }
    }

    /** Whether the slot is used by a walsender of this subscription, by its application_name. */
    public boolean isUsedByOwn(ReplicationSlot slot) {
        String shown = slot.activeApplicationName();
        return shown != null && (shown.equals(shown(false)) || shown.equals(shown(true)));
    }

    /**
     * The application_name as the server shows it: other bytes than printable ASCII are replaced, up to PostgreSQL 15 by a question mark,
     * then by their hexadecimal number (guc.c, check_application_name; string.c, pg_clean_ascii). One in the publisher's URL wins over
     * the subscription's name, as in PostgreSQL.
     */
    private String shown(boolean hexadecimal) {
        StringBuilder shown = new StringBuilder();
        String name = publisher.url().properties().getOrDefault("ApplicationName", applicationName);
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (b >= ' ' && b < 127) {
                shown.append((char) b);
            } else {
                shown.append(hexadecimal ? String.format("\\x%02x", b) : "?");
            }
        }
        return shown.toString();
    }

    /** The error that says who uses a slot. */
    public static ApplyException inUse(ReplicationSlot slot) {
        return ApplyException.withHint(
                Kind.SLOT_IN_USE,
                "replication slot \"" + slot.name() + "\" is active for pid " + slot.activePid()
                        + " (application_name \"" + slot.activeApplicationName() + "\")",
                "stop that process, or give this subscription a slot_name of its own");
    }

    /**
     * Drops a slot, waiting while it is active. When this returns there is no slot of that name.
     *
     * @param patience how long to wait while the slot is active
     * @throws ApplyException of kind SLOT_IN_USE if it is still active then
     */
    public void drop(String slotName, Duration patience) {
        try (Connection replication = publisher.openReplication(applicationName);
                Statement statement = replication.createStatement()) {
            statement.setQueryTimeout((int) Math.max(1, patience.toSeconds()));
            statement.execute("DROP_REPLICATION_SLOT \"" + slotName + "\" WAIT");
        } catch (SQLException e) {
            if (UNDEFINED_OBJECT.equals(e.getSQLState())) {
                return;
            }
            if (QUERY_CANCELED.equals(e.getSQLState())) {
                throw new ApplyException(
                        Kind.SLOT_IN_USE,
                        "replication slot \"" + slotName + "\" is still active after " + patience.toSeconds() + " s",
                        e);
            }
            throw PostgresErrors.translate("could not drop replication slot \"" + slotName + "\"", e);
        }
    }
}
