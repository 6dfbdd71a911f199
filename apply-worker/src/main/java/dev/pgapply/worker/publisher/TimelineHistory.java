package dev.pgapply.worker.publisher;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a timeline branched off from its ancestors (timeline.c, readTimeLineHistory): one line for each ancestor with its number and the
 * position up to which its WAL belongs to this history too.
 */
public record TimelineHistory(int timeline, Map<Integer, Lsn> branchPoints) {

    public TimelineHistory {
        branchPoints = Map.copyOf(branchPoints);
    }

    /** @param replication a walsender connection; timeline 1 has no history */
    public static TimelineHistory read(Connection replication, int timeline) {
        if (timeline <= 1) {
            return new TimelineHistory(timeline, Map.of());
        }
        try (Statement statement = replication.createStatement();
                ResultSet row = statement.executeQuery("TIMELINE_HISTORY " + timeline)) {
            if (!row.next()) {
                throw new SQLException("no answer to TIMELINE_HISTORY " + timeline, "08P01");
            }
            return parse(timeline, row.getString(2));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not ask the publisher for the history of timeline " + timeline, e);
        }
    }

    /** @param content the history file: empty lines and comments (#) are skipped */
    static TimelineHistory parse(int timeline, String content) {
        Map<Integer, Lsn> branchPoints = new HashMap<>();
        for (String line : content.lines().map(String::strip).toList()) {
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] fields = line.split("\\s+", 3);
            if (fields.length < 2) {
                throw new IllegalArgumentException("invalid line of a timeline history: \"" + line + "\"");
            }
            branchPoints.put(Integer.parseInt(fields[0]), Lsn.parse(fields[1]));
        }
        return new TimelineHistory(timeline, branchPoints);
    }

    /** Up to where an older timeline's WAL is part of this one; null if it is no ancestor. */
    public @Nullable Lsn branchPoint(int ancestor) {
        return branchPoints.get(ancestor);
    }
}
