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
 * <p>Owned by one thread. The creation waits for every transaction that runs on the publisher; to give it up, another thread cancels the
 * connection's query: the publisher then leaves no slot. Closing alone would leave the walsender there, as it does not notice, while it
 * waits, that its client has gone.
 */
public final class SlotCreation implements AutoCloseable {

    private static final String DUPLICATE_OBJECT = "42710";
    private static final int FIRST_MAJOR_WITH_OPTION_LIST = 15;

    private final Connection replication;
    private final String slotName;
    private final boolean temporary;

    /** @param replication a walsender connection for this creation alone */
    public SlotCreation(Connection replication, String slotName) {
        this(replication, slotName, false);
    }

    private SlotCreation(Connection replication, String slotName, boolean temporary) {
        this.replication = replication;
        this.slotName = slotName;
        this.temporary = temporary;
    }

    /** Creates a slot only for its snapshot: it is gone with the connection. */
    public static SlotCreation temporary(Connection replication, String slotName) {
        return new SlotCreation(replication, slotName, true);
    }

    /** @param snapshotName for SET TRANSACTION SNAPSHOT; what is visible in it is what committed before the consistent point */
    public record Created(Lsn consistentPoint, String snapshotName) {}

    /**
     * Creates the slot; waits for all running transactions.
     *
     * @throws ApplyException of kind PRECONDITION if a slot of that name exists
     */
    public Created create(int major) {
        String options = major >= FIRST_MAJOR_WITH_OPTION_LIST ? "(SNAPSHOT 'export')" : "EXPORT_SNAPSHOT";
        try (Statement statement = replication.createStatement();
                ResultSet row = statement.executeQuery("CREATE_REPLICATION_SLOT \"" + slotName
                        + (temporary ? "\" TEMPORARY" : "\"") + " LOGICAL pgoutput " + options)) {
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

    /** Tells the publisher to give up a creation that is under way; from another thread. The creation then fails, unless it is done. */
    public void cancel() {
        try {
            replication.unwrap(PGConnection.class).cancelQuery();
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not give up creating replication slot \"" + slotName + "\"", e);
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
