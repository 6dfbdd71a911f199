package dev.pgapply.worker.catalog;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A target session that entered under an epoch which is no longer the current one. */
record StaleSession(LockHolder holder, long epoch) {

    /** @param query selects pid, application_name, address and epoch, by subid and the current epoch */
    static List<StaleSession> list(Connection connection, String query, int subid, int currentEpoch)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setInt(1, subid);
            statement.setInt(2, currentEpoch);
            try (ResultSet rows = statement.executeQuery()) {
                List<StaleSession> sessions = new ArrayList<>();
                while (rows.next()) {
                    sessions.add(new StaleSession(Ownership.holder(rows), rows.getLong("objid")));
                }
                return sessions;
            }
        }
    }

    /** The epochs whose sessions must be gone: the last one, even if no session of it can be seen, and all that have any. */
    static Set<Long> epochs(List<StaleSession> sessions, long lastEpoch) {
        Set<Long> epochs = new TreeSet<>();
        epochs.add(lastEpoch);
        sessions.forEach(session -> epochs.add(session.epoch()));
        return epochs;
    }
}
