package dev.pgapply.worker.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks the target which sessions wait for a lock, and for whom (lockfuncs.c, pg_blocking_pids). Over a connection of its own, opened when
 * first needed: those of the apply sessions may be the ones that wait. Owned by one thread; only {@link #close} may come from another.
 */
public final class LockWaits implements AutoCloseable {

    /**
     * Those that have waited for a second: most waits are shorter, and say nothing. Who waits to extend a relation waits for a moment of
     * the other's work, not for its transaction.
     */
    private static final String QUERY = "SELECT w.pid, pg_blocking_pids(w.pid) FROM (SELECT DISTINCT pid FROM pg_locks"
            + " WHERE NOT granted AND locktype NOT IN ('extend', 'page')"
            + " AND waitstart < clock_timestamp() - interval '1 second') w";

    private final PostgresConnections connections;
    private final String applicationName;

    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private @Nullable PreparedStatement statement;

    public LockWaits(PostgresConnections connections, String subscription) {
        this.connections = connections;
        this.applicationName = "pgapply " + subscription + " watch";
    }

    /** Server process → those that block it. */
    public Map<Integer, Set<Integer>> read() {
        try {
            Map<Integer, Set<Integer>> waits = new HashMap<>();
            try (ResultSet rows = statement().executeQuery()) {
                while (rows.next()) {
                    Integer[] blockers = (Integer[]) rows.getArray(2).getArray();
                    waits.put(rows.getInt(1), new HashSet<>(List.of(blockers)));
                }
            }
            return waits;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the target's lock waits", e);
        }
    }

    private PreparedStatement statement() throws SQLException {
        PreparedStatement prepared = statement;
        if (prepared == null) {
            Connection opened = connections.openTarget(applicationName);
            connection = opened;
            if (closed) {
                close();
            }
            prepared = opened.prepareStatement(QUERY);
            statement = prepared;
        }
        return prepared;
    }

    @Override
    public void close() {
        closed = true;
        Connection open = connection;
        if (open != null) {
            PostgresConnections.cut(open);
        }
    }
}
