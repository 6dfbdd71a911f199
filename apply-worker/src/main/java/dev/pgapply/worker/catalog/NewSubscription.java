package dev.pgapply.worker.catalog;

import static dev.pgapply.worker.catalog.CatalogStatements.update;

import dev.pgapply.worker.origin.NativeOrigin;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.origin.PreparedTransactionRecord;
import dev.pgapply.worker.publisher.PublisherIdentity;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.random.RandomGenerator;

/** The rows that a subscription begins with, under a number that nothing else on the target's server is named after. */
final class NewSubscription {

    // One statement: where another engine comes first with the same name or slot, nothing of it is written.
    private static final String INSERT =
            "WITH added AS (INSERT INTO pgapply.subscription (subid, name, slot_name, publisher_system_identifier,"
                    + " publisher_timeline, publisher_database, target_system_identifier, target_database_oid)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING subid),"
                    + " origin AS (INSERT INTO pgapply.origin_status (subid, apply_session) SELECT subid, "
                    + OriginStatus.LEADER_SESSION + " FROM added)"
                    + " INSERT INTO pgapply.epoch (subid) SELECT subid FROM added";

    private final RandomGenerator random;

    NewSubscription(RandomGenerator random) {
        this.random = random;
    }

    void insert(Connection connection, String name, String slotName, PublisherIdentity publisher) throws SQLException {
        TargetIdentity target = TargetIdentity.read(connection);
        update(
                connection,
                INSERT,
                drawSubid(connection),
                name,
                slotName,
                publisher.systemIdentifier(),
                publisher.timeline(),
                publisher.database(),
                target.systemIdentifier(),
                target.databaseOid());
    }

    /** Origins and prepared transactions are named after the subid and known to the whole server, as are subscriptions made with SQL. */
    private int drawSubid(Connection connection) throws SQLException {
        while (true) {
            int subid = random.nextInt(1, Integer.MAX_VALUE);
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT EXISTS (SELECT FROM pg_replication_origin WHERE roname = ?)"
                            + " OR EXISTS (SELECT FROM pg_subscription WHERE oid = ?)"
                            + " OR EXISTS (SELECT FROM pg_prepared_xacts WHERE starts_with(gid, ?))"
                            + " OR EXISTS (SELECT FROM pgapply.subscription WHERE subid = ?)")) {
                statement.setString(1, NativeOrigin.name(subid));
                statement.setInt(2, subid);
                statement.setString(3, PreparedTransactionRecord.gidPrefix(subid));
                statement.setInt(4, subid);
                try (ResultSet row = statement.executeQuery()) {
                    if (row.next() && !row.getBoolean(1)) {
                        return subid;
                    }
                }
            }
        }
    }
}
