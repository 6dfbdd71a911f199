package dev.pgapply.worker.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The session's prepared statements by their text, the least recently used closed first: planning costs more than executing one row.
 * Owned by the session's thread.
 */
final class StatementCache {

    /** Each holds a plan in the server's memory, some ten kilobytes. */
    private static final int MAX_STATEMENTS = 200;

    private final Connection connection;
    private final LinkedHashMap<String, PreparedStatement> statements = new LinkedHashMap<>(64, 0.75f, true);

    StatementCache(Connection connection) {
        this.connection = connection;
    }

    /**
     * @param sql one statement, or several with semicolons between them
     * @param variant tells apart statements of the same text whose parameters have other types: the server fixes these when it
     *     prepares
     */
    PreparedStatement get(String sql, String variant) throws SQLException {
        String key = variant.isEmpty() ? sql : sql + "\n" + variant;
        PreparedStatement statement = statements.get(key);
        if (statement == null) {
            makeRoom();
            statement = connection.prepareStatement(sql);
            statements.put(key, statement);
        }
        return statement;
    }

    private void makeRoom() throws SQLException {
        if (statements.size() < MAX_STATEMENTS) {
            return;
        }
        Map.Entry<String, PreparedStatement> eldest =
                statements.entrySet().iterator().next();
        statements.remove(eldest.getKey());
        eldest.getValue().close();
    }

    /** Closes all of them: the target's tables may have changed. */
    void clear() {
        for (PreparedStatement statement : statements.values()) {
            try {
                statement.close();
            } catch (SQLException e) {
                // The connection is gone, and the statement with it.
            }
        }
        statements.clear();
    }
}
