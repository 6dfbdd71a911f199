package dev.pgapply.worker.publisher;

import dev.pgapply.core.tablesync.BlockingTransaction;
import dev.pgapply.core.tablesync.RunningTransactions;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The transactions that run or are prepared on the publisher, in any of its databases: a slot waits for all. Every role sees their ids
 * and pids; user and query need pg_monitor. Immutable.
 *
 * @param transactions oldest first
 */
public record PublisherTransactions(RunningTransactions running, List<BlockingTransaction> transactions) {

    private static final String SQL = "SELECT t.xid::text, t.pid, t.gid, t.usename, t.datname,"
            + " extract(epoch FROM clock_timestamp() - t.began)::float8, t.query,"
            + " pg_snapshot_xmin(s.snapshot)::text, pg_snapshot_xmax(s.snapshot)::text"
            + " FROM (SELECT pg_current_snapshot() OFFSET 0) s(snapshot) LEFT JOIN ("
            + "SELECT backend_xid, pid, NULL::text, usename::text, datname::text, xact_start, query"
            + " FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
            + " UNION ALL SELECT transaction, NULL, gid, owner::text, database::text, prepared, NULL"
            + " FROM pg_prepared_xacts) t(xid, pid, gid, usename, datname, began, query) ON true"
            + " ORDER BY age(t.xid) DESC";

    public PublisherTransactions {
        transactions = List.copyOf(transactions);
    }

    /** @param connection in autocommit mode, so that each reading sees anew */
    public static PublisherTransactions read(Connection connection) {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SQL)) {
            List<BlockingTransaction> transactions = new ArrayList<>();
            long xmin = 0;
            long xmax = 0;
            while (row.next()) {
                xmin = Long.parseUnsignedLong(row.getString(8));
                xmax = Long.parseUnsignedLong(row.getString(9));
                String xid = row.getString(1);
                if (xid != null) {
                    transactions.add(
                            transaction(row, RunningTransactions.fullXid(Integer.parseUnsignedInt(xid), xmax)));
                }
            }
            List<Long> xids =
                    transactions.stream().map(BlockingTransaction::xid).toList();
            return new PublisherTransactions(RunningTransactions.of(xmin, xmax, xids), transactions);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the publisher's running transactions", e);
        }
    }

    private static BlockingTransaction transaction(ResultSet row, long xid) throws SQLException {
        int pid = row.getInt(2);
        double seconds = row.getDouble(6);
        @Nullable Duration age = row.wasNull() ? null : Duration.ofMillis(Math.max(0, Math.round(seconds * 1000)));
        return new BlockingTransaction(
                xid,
                pid == 0 ? null : pid,
                row.getString(3),
                row.getString(4),
                row.getString(5),
                age,
                row.getString(7));
    }
}
