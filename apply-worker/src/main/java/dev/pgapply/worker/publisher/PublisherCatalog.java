package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.stats.SlotStatistics;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the publisher's catalogs say, read over an ordinary connection that belongs to the caller. Owned by the thread that owns the
 * connection. It changes nothing.
 */
public final class PublisherCatalog {

    private final Connection connection;

    /** @param connection with an empty search_path, so that every name in an expression that it prints is qualified */
    public PublisherCatalog(Connection connection) {
        this.connection = connection;
    }

    public PublisherFacts facts() {
        String sql = "SELECT current_setting('server_version_num')::int, current_setting('server_version'),"
                + " current_setting('wal_level'),"
                + " (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_sender_timeout'),"
                + " current_setting('synchronous_standby_names'), pg_is_in_recovery(),"
                + " (SELECT count(*) FROM pg_replication_slots), current_setting('max_replication_slots')::int,"
                + " (SELECT count(*) FROM pg_stat_get_wal_senders()), current_setting('max_wal_senders')::int";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return new PublisherFacts(
                    row.getInt(1),
                    row.getString(2),
                    row.getString(3),
                    Duration.ofMillis(row.getLong(4)),
                    row.getString(5),
                    row.getBoolean(6),
                    row.getInt(7),
                    row.getInt(8),
                    row.getInt(9),
                    row.getInt(10));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the publisher's settings", e);
        }
    }

    /** Up to where the publisher's WAL is durable; on a standby, up to where it is replayed. */
    public Lsn flushLsn() {
        String sql = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                + " ELSE pg_current_wal_flush_lsn() END";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return Lsn.parse(row.getString(1));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the publisher's WAL position", e);
        }
    }

    /** Those of the named publications that exist, in the order of the names. */
    public List<Publication> publications(List<String> names) {
        String sql = "SELECT pubname, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot"
                + " FROM pg_publication WHERE pubname = ANY (?) ORDER BY array_position(?, pubname::text)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", names.toArray()));
            statement.setArray(2, connection.createArrayOf("text", names.toArray()));
            List<Publication> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Publication(
                            row.getString(1),
                            row.getBoolean(2),
                            row.getBoolean(3),
                            row.getBoolean(4),
                            row.getBoolean(5),
                            row.getBoolean(6),
                            row.getBoolean(7)));
                }
            }
            return found;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the publications", e);
        }
    }

    /** Those of the names that are no publication. */
    public Set<String> missingPublications(List<String> names) {
        Set<String> missing = new LinkedHashSet<>(names);
        publications(names).forEach(publication -> missing.remove(publication.name()));
        return missing;
    }

    /**
     * From 18 on a walsender goes on without a publication that is missing, and says so only when there is a change to leave out.
     *
     * @throws ApplyException of kind PRECONDITION that names those that do not exist
     */
    public void requirePublications(List<String> names) {
        Set<String> missing = missingPublications(names);
        if (!missing.isEmpty()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    (missing.size() == 1 ? "publication \"" : "publications \"") + String.join("\", \"", missing)
                            + (missing.size() == 1 ? "\" does" : "\" do") + " not exist on the publisher",
                    "create it there, or correct publications");
        }
    }

    /**
     * The tables that the publications send, ordered by name. Under an imported snapshot it is their state in that snapshot, except for
     * what pg_get_publication_tables reads itself, which is always current.
     *
     * @param major the publisher's release, {@link PublisherFacts#major()}
     * @throws dev.pgapply.core.ApplyException of kind PRECONDITION if the publications disagree on a table's columns
     */
    public List<PublishedTable> tables(List<String> publications, int major) {
        try {
            return new PublishedTables(connection, major).read(publications);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the published tables", e);
        }
    }

    /** What the publisher counts of the slot, or null before it has counted anything. */
    public @Nullable SlotStatistics slotStatistics(String name) {
        String sql = "SELECT spill_txns, spill_count, spill_bytes, stream_txns, stream_count, stream_bytes"
                + " FROM pg_stat_replication_slots WHERE slot_name = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new SlotStatistics(
                                row.getLong(1),
                                row.getLong(2),
                                row.getLong(3),
                                row.getLong(4),
                                row.getLong(5),
                                row.getLong(6))
                        : null;
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the statistics of replication slot \"" + name + "\"", e);
        }
    }

    /** The slot of that name, or null if there is none. */
    public @Nullable ReplicationSlot slot(String name, int major) {
        String sql =
                "SELECT s.slot_name, s.plugin, s.slot_type, s.database, s.database = current_database(), s.temporary,"
                        + " s.two_phase, s.active_pid, a.application_name, s.restart_lsn, s.confirmed_flush_lsn, s.wal_status, "
                        + (major >= 17 ? "s.invalidation_reason" : "NULL")
                        + " FROM pg_replication_slots s LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid"
                        + " WHERE s.slot_name = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? slot(row) : null;
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read replication slot \"" + name + "\"", e);
        }
    }

    private static ReplicationSlot slot(ResultSet row) throws SQLException {
        int activePid = row.getInt(8);
        return new ReplicationSlot(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getBoolean(5),
                row.getBoolean(6),
                row.getBoolean(7),
                activePid == 0 ? null : activePid,
                row.getString(9),
                lsn(row.getString(10)),
                lsn(row.getString(11)),
                row.getString(12),
                row.getString(13));
    }

    private static @Nullable Lsn lsn(@Nullable String text) {
        return text == null ? null : Lsn.parse(text);
    }
}
