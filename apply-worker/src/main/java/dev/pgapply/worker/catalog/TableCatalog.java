package dev.pgapply.worker.catalog;

import static dev.pgapply.worker.catalog.CatalogStatements.lsn;
import static dev.pgapply.worker.catalog.CatalogStatements.run;
import static dev.pgapply.worker.catalog.CatalogStatements.update;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.core.tablesync.TableSyncState;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The subscriptions' tables: {@code pgapply.subscription_rel}. Thread-safe; every method runs one statement on the connection it is given,
 * in the caller's transaction where there is one.
 */
public final class TableCatalog {

    /** The subscription's tables, ordered by name. */
    public List<SubscriptionTable> tables(Connection connection, int subid) {
        return run("could not read pgapply.subscription_rel", () -> {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT schema_name, table_name, state::text, sync_lsn::text, rows_copied, bytes_copied, error"
                            + " FROM pgapply.subscription_rel WHERE subid = ? ORDER BY schema_name, table_name")) {
                statement.setInt(1, subid);
                try (ResultSet row = statement.executeQuery()) {
                    List<SubscriptionTable> tables = new ArrayList<>();
                    while (row.next()) {
                        tables.add(new SubscriptionTable(
                                new QualifiedName(row.getString(1), row.getString(2)),
                                TableSyncState.of(row.getString(3).charAt(0)),
                                lsn(row.getString(4)),
                                row.getLong(5),
                                row.getLong(6),
                                row.getString(7)));
                    }
                    return tables;
                }
            }
        });
    }

    /** Registers a table or records its new state. In the transaction that copies the rows, so that state and rows are one. */
    public void setTable(Connection connection, int subid, SubscriptionTable table) {
        run("could not record the state of table " + table.table(), () -> put(connection, subid, table));
    }

    /** Removes a table from the subscription; its rows stay. */
    public void removeTable(Connection connection, int subid, QualifiedName table) {
        run(
                "could not remove table " + table + " from the subscription",
                () -> update(
                        connection,
                        "DELETE FROM pgapply.subscription_rel WHERE subid = ? AND schema_name = ? AND table_name = ?",
                        subid,
                        table.schema(),
                        table.name()));
    }

    /** What the publisher had of each table when it was copied; tables of which that is not known are left out. */
    public Map<QualifiedName, Publishing> publishing(Connection connection, int subid) {
        return run("could not read pgapply.subscription_rel", () -> {
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT schema_name, table_name, published_as"
                            + " FROM pgapply.subscription_rel WHERE subid = ? AND published_as IS NOT NULL")) {
                statement.setInt(1, subid);
                try (ResultSet row = statement.executeQuery()) {
                    Map<QualifiedName, Publishing> known = new HashMap<>();
                    while (row.next()) {
                        known.put(
                                new QualifiedName(row.getString(1), row.getString(2)),
                                Publishing.parse(row.getString(3)));
                    }
                    return known;
                }
            }
        });
    }

    /** Records what the publisher has of a table that is registered. */
    public void setPublishing(Connection connection, int subid, QualifiedName table, Publishing publishing) {
        run(
                "could not record how table " + table + " is published",
                () -> putPublishing(connection, subid, Map.of(table, publishing)));
    }

    static int putPublishing(Connection connection, int subid, Map<QualifiedName, Publishing> publishing)
            throws SQLException {
        List<Map.Entry<QualifiedName, Publishing>> all = List.copyOf(publishing.entrySet());
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE pgapply.subscription_rel r SET published_as = p.published_as"
                        + " FROM unnest(?::text[], ?::text[], ?::text[]) p(schema_name, table_name, published_as)"
                        + " WHERE r.subid = ? AND r.schema_name = p.schema_name AND r.table_name = p.table_name")) {
            statement.setArray(1, texts(connection, all, entry -> entry.getKey().schema()));
            statement.setArray(2, texts(connection, all, entry -> entry.getKey().name()));
            statement.setArray(
                    3, texts(connection, all, entry -> entry.getValue().toString()));
            statement.setInt(4, subid);
            return statement.executeUpdate();
        }
    }

    private static <T> Array texts(Connection connection, List<T> values, Function<T, String> text)
            throws SQLException {
        return connection.createArrayOf("text", values.stream().map(text).toArray());
    }

    static int put(Connection connection, int subid, SubscriptionTable table) throws SQLException {
        Lsn syncLsn = table.syncLsn();
        return update(
                connection,
                "INSERT INTO pgapply.subscription_rel"
                        + " (subid, schema_name, table_name, state, sync_lsn, rows_copied, bytes_copied, error)"
                        + " VALUES (?, ?, ?, ?::text::\"char\", ?::text::pg_lsn, ?, ?, ?)"
                        + " ON CONFLICT (subid, schema_name, table_name) DO UPDATE SET state = EXCLUDED.state,"
                        + " sync_lsn = EXCLUDED.sync_lsn, rows_copied = EXCLUDED.rows_copied,"
                        + " bytes_copied = EXCLUDED.bytes_copied, error = EXCLUDED.error",
                subid,
                table.table().schema(),
                table.table().name(),
                String.valueOf(table.state().code()),
                syncLsn == null ? null : syncLsn.toString(),
                table.rowsCopied(),
                table.bytesCopied(),
                table.error());
    }

    /** All copied tables that stand at or before a position are in step with the stream: s becomes r. */
    public void setReady(Connection connection, int subid, Lsn remoteLsn) {
        run(
                "could not record the tables that are in step",
                () -> update(
                        connection,
                        "UPDATE pgapply.subscription_rel SET state = 'r' WHERE subid = ? AND state = 's' AND sync_lsn <= ?::text::pg_lsn",
                        subid,
                        remoteLsn.toString()));
    }
}
