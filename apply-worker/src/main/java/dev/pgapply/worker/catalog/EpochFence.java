package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.SessionFence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What keeps the sessions of an owner that was replaced out of the target. Each target session holds a shared advisory lock on (subid,
 * epoch) for as long as it lives; a takeover raises the epoch, ends the sessions that hold the older lock and waits until it is free. The
 * session takes the lock first and reads the epoch then: whoever raised it in between either sees the lock or is seen. Immutable.
 *
 * @param epoch the epoch of the owner whose sessions may enter
 */
public record EpochFence(int subid, int epoch) implements SessionFence {

    /**
     * Lets a new session in. Called once for each target session, before it does anything else.
     *
     * @param connection in autocommit mode: lock and epoch must be two statements with a snapshot each
     * @throws ApplyException of kind OWNERSHIP_LOST if the epoch is no longer the current one; the caller closes the connection
     */
    @Override
    public void enter(Connection connection) {
        try {
            try (PreparedStatement lock = connection.prepareStatement("SELECT pg_advisory_lock_shared(?, ?)")) {
                lock.setInt(1, subid);
                lock.setInt(2, epoch);
                lock.execute();
            }
            try (PreparedStatement read =
                    connection.prepareStatement("SELECT epoch FROM pgapply.epoch WHERE subid = ?")) {
                read.setInt(1, subid);
                try (ResultSet row = read.executeQuery()) {
                    if (!row.next()) {
                        throw new ApplyException(
                                Kind.OWNERSHIP_LOST, "subscription id " + subid + " was dropped from the target");
                    }
                    if (row.getInt(1) != epoch) {
                        throw new ApplyException(
                                Kind.OWNERSHIP_LOST,
                                "another engine took the subscription over: this one's epoch is " + epoch
                                        + ", the current one is " + row.getInt(1));
                    }
                }
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not enter the target session under epoch " + epoch, e);
        }
    }
}
