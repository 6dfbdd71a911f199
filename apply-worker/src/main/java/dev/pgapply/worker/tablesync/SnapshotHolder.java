package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublishedMemberships;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

/**
 * The session on the publisher that keeps the slot's snapshot alive while tables are copied; it holds no table's lock. It exports the
 * snapshot once more, so that the walsender which exported it first is not needed any longer. Owned by the thread that runs the copy.
 */
final class SnapshotHolder {

    private final Connection connection;
    private final String snapshotName;

    private SnapshotHolder(Connection connection, String snapshotName) {
        this.connection = connection;
        this.snapshotName = snapshotName;
    }

    /** @param exportedName the walsender's snapshot */
    static SnapshotHolder open(Connection connection, String exportedName) {
        importSnapshot(connection, exportedName);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_export_snapshot()")) {
            row.next();
            return new SnapshotHolder(connection, row.getString(1));
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not export the snapshot", e);
        }
    }

    /** Begins a transaction that sees what the snapshot saw. */
    static void importSnapshot(Connection connection, String name) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
            statement.execute("SET TRANSACTION SNAPSHOT " + Identifiers.literal(name));
        } catch (SQLException e) {
            throw lost(e);
        }
    }

    /** What the copy sessions import. */
    String snapshotName() {
        return snapshotName;
    }

    List<PublishedTable> tables(List<String> publications, int major) {
        return new PublisherCatalog(connection).tables(publications, major);
    }

    /** The tables' parts, as the snapshot has them. */
    List<CopyPart> parts(List<TableCopy> copies, int workers) {
        return CopyParts.of(connection, copies, workers);
    }

    /** As what each of the tables is published, as the snapshot shows it. */
    Map<QualifiedName, Publishing> publishing(List<PublishedTable> tables, List<String> publications, int major) {
        return new PublishedMemberships(connection, major).read(tables, publications.toArray(String[]::new));
    }

    /** A word on the connection now and then, so that nothing in between takes it for dead. */
    void keepAlive() {
        execute("SELECT 1");
    }

    /** Nobody needs the snapshot any more: the session can be used for something else. */
    void end() {
        execute("COMMIT");
    }

    private void execute(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw lost(e);
        }
    }

    private static ApplyException lost(SQLException e) {
        ApplyException reason =
                PostgresErrors.translate("the snapshot on the publisher is lost, the copy begins again", e);
        return reason.kind() == Kind.CONNECTION
                ? reason
                : new ApplyException(Kind.TRANSIENT, reason.getMessage(), reason.hint(), reason.sqlState(), null, e);
    }
}
