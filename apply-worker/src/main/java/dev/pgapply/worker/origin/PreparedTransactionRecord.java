package dev.pgapply.worker.origin;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The prepared transactions of a subscription: the target's own, named {@code pg_gid_<subid>_<xid>}, and what
 * {@code pgapply.prepared_transaction} says of them, since pg_prepared_xacts does not tell which transaction of the publisher one is.
 * Owned by the apply session's thread, on the session's connection, which is in autocommit mode.
 *
 * <p>Two rows a transaction: one committed before PREPARE TRANSACTION; one that the prepared transaction itself inserts, visible once it
 * is committed. No origin is set up for it ({@code xact_setup} is sent with the commit that records the progress).
 */
public final class PreparedTransactionRecord implements TwoPhaseSession {

    private static final String STANDING = "SELECT (SELECT prepare_end_lsn::text FROM r WHERE NOT finished),"
            + " (SELECT prepare_time FROM r WHERE NOT finished),"
            + " EXISTS (SELECT FROM pg_prepared_xacts WHERE gid = ? AND database = current_database()),"
            + " EXISTS (SELECT FROM r WHERE finished)";

    private static final String WITH_ROWS =
            "WITH r AS (SELECT * FROM pgapply.prepared_transaction WHERE subid = ? AND gid = ?) ";

    private static final String DELETE = "DELETE FROM pgapply.prepared_transaction WHERE subid = ? AND gid = ?";

    private static final String INSERT = "INSERT INTO pgapply.prepared_transaction"
            + " (subid, gid, finished, prepare_end_lsn, prepare_time) VALUES (?, ?, ?, ?::text::pg_lsn, ?)";

    private final Connection connection;
    private final int subid;

    PreparedTransactionRecord(Connection connection, int subid) {
        this.connection = connection;
        this.subid = subid;
    }

    /** What the names of a subscription's prepared transactions begin with; they are known to the whole server. */
    public static String gidPrefix(int subid) {
        return "pg_gid_" + subid + "_";
    }

    /** The target's setting, which only a restart changes. */
    public static int maxPreparedTransactions(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_setting('max_prepared_transactions')::int")) {
            row.next();
            return row.getInt(1);
        }
    }

    /**
     * Rolls back all that a subscription has prepared, for its end. Called by its owner, after the takeover.
     *
     * @return their names
     */
    public static List<String> rollBackAll(Connection connection, int subid) {
        List<String> gids = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement("SELECT gid FROM pg_prepared_xacts"
                + " WHERE starts_with(gid, ?) AND database = current_database() ORDER BY gid")) {
            statement.setString(1, gidPrefix(subid));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    gids.add(row.getString(1));
                }
            }
            for (String gid : gids) {
                execute(connection, "ROLLBACK PREPARED '" + gid + "'");
            }
            return gids;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not roll the subscription's prepared transactions back", e);
        }
    }

    /**
     * The publisher's transactions that a subscription has prepared, or was about to, and not finished. Read by its owner, after the
     * takeover.
     */
    public static Set<Xid> recorded(Connection connection, int subid) {
        Set<Xid> xids = new HashSet<>();
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT DISTINCT gid FROM pgapply.prepared_transaction WHERE subid = ?")) {
            statement.setInt(1, subid);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    xids.add(new Xid(Integer.parseUnsignedInt(
                            row.getString(1).substring(gidPrefix(subid).length()))));
                }
            }
            return xids;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read which transactions are prepared", e);
        }
    }

    @Override
    public String gid(Xid xid) {
        return PreparedTransaction.gid(subid, xid);
    }

    @Override
    public PreparedStanding standing(Xid xid) {
        try (PreparedStatement statement = connection.prepareStatement(WITH_ROWS + STANDING)) {
            statement.setInt(1, subid);
            statement.setString(2, gid(xid));
            statement.setString(3, gid(xid));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new PreparedStanding(recorded(xid, row), row.getBoolean(3), row.getBoolean(4));
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read what is prepared on the target", e);
        }
    }

    private static @Nullable PreparedTransaction recorded(Xid xid, ResultSet row) throws SQLException {
        String prepareEndLsn = row.getString(1);
        return prepareEndLsn == null
                ? null
                : new PreparedTransaction(
                        xid,
                        Lsn.parse(prepareEndLsn),
                        row.getObject(2, OffsetDateTime.class).toInstant());
    }

    /** Durable by what follows: PREPARE TRANSACTION flushes all WAL before it (twophase.c, EndPrepare). */
    @Override
    public void recordIntent(PreparedTransaction transaction) {
        try {
            execute(connection, "BEGIN");
            delete(transaction.xid());
            insert(transaction, false);
            execute(connection, "COMMIT");
        } catch (SQLException e) {
            throw cut(PostgresErrors.translate("could not record that a transaction is to be prepared", e));
        }
    }

    /** Nothing is recorded of it. */
    @Override
    public void mayPrepare(Xid xid) {}

    @Override
    public void prepare(PreparedTransaction transaction) {
        try {
            insert(transaction, true);
            // An error of the data still leaves a transaction that can be rolled back.
            execute(connection, "SET CONSTRAINTS ALL IMMEDIATE");
        } catch (SQLException e) {
            throw PostgresErrors.translate("", e);
        }
        try {
            execute(connection, "PREPARE TRANSACTION '" + gid(transaction.xid()) + "'");
        } catch (SQLException e) {
            throw cut(PostgresErrors.translate("could not prepare transaction \"" + gid(transaction.xid()) + "\"", e));
        }
    }

    @Override
    public void commitPrepared(Xid xid) {
        end("COMMIT", xid);
    }

    @Override
    public void rollbackPrepared(Xid xid) {
        end("ROLLBACK", xid);
    }

    private void end(String command, Xid xid) {
        try {
            execute(connection, command + " PREPARED '" + gid(xid) + "'");
        } catch (SQLException e) {
            throw cut(PostgresErrors.translate("could not end prepared transaction \"" + gid(xid) + "\"", e));
        }
    }

    @Override
    public void forget(Xid xid) {
        try {
            delete(xid);
        } catch (SQLException e) {
            throw cut(PostgresErrors.translate("could not remove the record of a prepared transaction", e));
        }
    }

    private void delete(Xid xid) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DELETE)) {
            statement.setInt(1, subid);
            statement.setString(2, gid(xid));
            statement.executeUpdate();
        }
    }

    private void insert(PreparedTransaction transaction, boolean finished) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, subid);
            statement.setString(2, gid(transaction.xid()));
            statement.setBoolean(3, finished);
            statement.setString(4, transaction.prepareEndLsn().toString());
            statement.setObject(5, transaction.prepareTime().atOffset(ZoneOffset.UTC));
            statement.executeUpdate();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The outcome is unknown: nothing more is done on this connection. */
    private ApplyException cut(ApplyException failure) {
        PostgresConnections.cut(connection);
        return failure;
    }
}
