package dev.pgapply.worker.catalog;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What the publisher's walsender says of itself (walsender.c, IdentifySystem).
 *
 * @param flushLsn the publisher's flush position
 */
public record IdentifySystem(PublisherIdentity publisher, Lsn flushLsn) {

    /** @param replication a walsender connection */
    public static IdentifySystem read(Connection replication) {
        try (Statement statement = replication.createStatement();
                ResultSet row = statement.executeQuery("IDENTIFY_SYSTEM")) {
            if (!row.next()) {
                throw new SQLException("no answer to IDENTIFY_SYSTEM", "08P01");
            }
            return new IdentifySystem(
                    new PublisherIdentity(row.getString("systemid"), row.getInt("timeline"), row.getString("dbname")),
                    Lsn.parse(row.getString("xlogpos")));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not ask the publisher for its identity", e);
        }
    }
}
