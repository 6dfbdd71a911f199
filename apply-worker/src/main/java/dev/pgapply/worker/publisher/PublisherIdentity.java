package dev.pgapply.worker.publisher;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Which cluster, history and database a publisher is (walsender.c, IdentifySystem).
 *
 * @param systemIdentifier an unsigned 64-bit number, as decimal text
 * @param walLsn the flush position when it was asked
 */
public record PublisherIdentity(String systemIdentifier, int timeline, Lsn walLsn, String database) {

    /** Asks over a walsender connection of its own. */
    public static PublisherIdentity of(PostgresConnections publisher, String applicationName) {
        try (Connection replication = publisher.openReplication(applicationName)) {
            return of(replication);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not identify the publisher", e);
        }
    }

    /** @param replication a walsender connection */
    public static PublisherIdentity of(Connection replication) {
        try (Statement statement = replication.createStatement();
                ResultSet row = statement.executeQuery("IDENTIFY_SYSTEM")) {
            row.next();
            return new PublisherIdentity(
                    row.getString("systemid"),
                    row.getInt("timeline"),
                    Lsn.parse(row.getString("xlogpos")),
                    row.getString("dbname"));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not identify the publisher", e);
        }
    }
}
