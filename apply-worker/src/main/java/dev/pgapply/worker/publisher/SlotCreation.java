package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/**
 * One creation of a logical slot that exports its snapshot (walsender.c, CreateReplicationSlot), with the walsender connection that it
 * needs: the snapshot can be imported until that connection is closed. The slot stays.
 *
 * <p>{@link #create} and {@link #close} belong to one thread; {@link #backendPid} and {@link #cancel} may be called by another, as the
 * creation waits for every transaction that runs on the publisher.
 */
public final class SlotCreation implements AutoCloseable {

    private static final String DUPLICATE_OBJECT = "42710";
    private static final int FIRST_MAJOR_WITH_OPTION_LIST = 15;

    private final Connection replication;
    private final String slotName;

    SlotCreation(Connection replication, String slotName) {
        this.replication = replication;
        this.slotName = slotName;
    }

    /** @param snapshotName for SET TRANSACTION SNAPSHOT; what is visible in it is what committed before the consistent point */
    public record Created(Lsn consistentPoint, String snapshotName) {}

    /** The walsender's process. */
    public int backendPid() {
        return session().getBackendPID();
    }

    private PGConnection session() {
        try {
            return replication.unwrap(PGConnection.class);
        } catch (SQLException e) {
            throw new ApplyException(Kind.INTERNAL, "walsender connection is not of the PostgreSQL driver", e);
        }
    }

    /** Which cluster and database the connection reached. */
    public PublisherIdentity identity() {
        return PublisherIdentity.of(replication);
    }

    /**
     * Creates the slot; waits for all running transactions.
     *
     * @throws ApplyException of kind PRECONDITION if a slot of that name exists
     */
    public Created create(int major) {
        String options = major >= FIRST_MAJOR_WITH_OPTION_LIST ? "(SNAPSHOT 'export')" : "EXPORT_SNAPSHOT";
        try (Statement statement = replication.createStatement();
                ResultSet row = statement.executeQuery(
                        "CREATE_REPLICATION_SLOT \"" + slotName + "\" LOGICAL pgoutput " + options)) {
            row.next();
            return new Created(Lsn.parse(row.getString("consistent_point")), row.getString("snapshot_name"));
        } catch (SQLException e) {
            if (DUPLICATE_OBJECT.equals(e.getSQLState())) {
                throw new ApplyException(
                        Kind.PRECONDITION,
                        "replication slot \"" + slotName + "\" already exists",
                        "drop that slot if nobody needs it, or choose another slot_name",
                        e.getSQLState(),
                        null,
                        e);
            }
            throw PostgresErrors.translate("could not create replication slot \"" + slotName + "\"", e);
        }
    }

    /**
     * Asks the publisher to end a creation that waits; {@link #create} then fails and leaves no slot. A walsender that waits for a
     * transaction does not notice that its client has gone, so closing the connection alone would leave it there.
     */
    public void cancel() {
        try {
            session().cancelQuery();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not cancel the creation of replication slot \"" + slotName + "\"", e);
        }
    }

    /** Ends the walsender, and with it the snapshot's export. */
    @Override
    public void close() {
        try {
            replication.close();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close the walsender connection", e);
        }
    }
}
