package dev.pgapply.worker.origin;

import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native origin of a session that copies: as PostgreSQL's own table synchronisation does (tablesync.c, LogicalRepSyncTableStart),
 * so that a publication of the target can leave the copied rows out. It marks rows and records no progress. Up to PostgreSQL 18 only
 * one session can use an origin, so each has its own, {@code pgapply_<subid>_copy_<n>}, which goes with it.
 *
 * <p>A role that may not use origins, or a server that has none left, is no reason not to copy: the rows have no origin then, and that is logged.
 * Owned by the thread that owns the connection.
 */
public final class CopyOrigin implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CopyOrigin.class);

    private static final int TRIES = 64;
    private static final String OBJECT_IN_USE = "55006";
    private static final String UNIQUE_VIOLATION = "23505";

    private static final String CREATE =
            "SELECT pg_replication_origin_create(name) FROM (SELECT ?::text AS name) AS origin"
                    + " WHERE pg_replication_origin_oid(name) IS NULL";

    private final Connection connection;
    private final @Nullable String name;

    private CopyOrigin(Connection connection, @Nullable String name) {
        this.connection = connection;
        this.name = name;
    }

    private static String prefix(int subid) {
        return NativeOrigin.name(subid) + "_copy_";
    }

    /** @param connection a session on the target in autocommit mode, without an open transaction */
    public static CopyOrigin attach(Connection connection, int subid) {
        try {
            if (NativeOrigin.isPermitted(connection)) {
                return new CopyOrigin(connection, attachFree(connection, subid));
            }
        } catch (SQLException e) {
            if (PostgresErrors.isConnectionLost(e)) {
                throw PostgresErrors.translate("could not set up the replication origin of a copy", e);
            }
            log.warn("rows are copied without a replication origin: {}", e.getMessage());
        }
        return new CopyOrigin(connection, null);
    }

    private static String attachFree(Connection connection, int subid) throws SQLException {
        for (int n = 1; ; n++) {
            String name = prefix(subid) + n;
            try {
                execute(connection, CREATE, name);
                execute(connection, "SELECT pg_replication_origin_session_setup(?)", name);
                return name;
            } catch (SQLException e) {
                boolean taken = OBJECT_IN_USE.equals(e.getSQLState()) || UNIQUE_VIOLATION.equals(e.getSQLState());
                if (!taken || n == TRIES) {
                    throw e;
                }
            }
        }
    }

    /** Ends the marking and removes the origin; what the session wrote keeps it. Not for a session that has failed. */
    @Override
    public void close() throws SQLException {
        if (name == null || connection.isClosed()) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_replication_origin_session_reset()");
        }
        execute(connection, "SELECT pg_replication_origin_drop(?)", name);
    }

    /** Removes what sessions that ended in a hurry have left. Without such an origin it needs no right. */
    public static void dropAll(Connection connection, int subid) {
        try {
            for (String name : existing(connection, subid)) {
                NativeOrigin.drop(connection, name);
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not remove the replication origins of a copy", e);
        }
    }

    private static List<String> existing(Connection connection, int subid) throws SQLException {
        List<String> names = new ArrayList<>();
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT roname FROM pg_replication_origin WHERE starts_with(roname, ?)")) {
            statement.setString(1, prefix(subid));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    names.add(row.getString(1));
                }
            }
        }
        return names;
    }

    private static void execute(Connection connection, String sql, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            statement.execute();
        }
    }
}
