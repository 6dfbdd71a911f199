package dev.pgapply.worker.catalog;

import static dev.pgapply.worker.catalog.CatalogStatements.run;
import static dev.pgapply.worker.catalog.CatalogStatements.update;

import dev.pgapply.core.QualifiedName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;

/**
 * The tables that a subscription has created and that do not have all their indexes and foreign keys yet:
 * {@code pgapply.created_table}. A table that is not in it is somebody else's work and is never added to. Stateless; every method runs one
 * statement on the connection it is given, in the caller's transaction where there is one.
 */
public final class CreatedTables {

    private CreatedTables() {}

    /** In the transaction that creates the table, so that the record holds exactly what was created. */
    public static void add(Connection connection, int subid, QualifiedName table) {
        int unused = run(
                "could not record created table \"" + table + "\"",
                () -> update(
                        connection,
                        "INSERT INTO pgapply.created_table (subid, schema_name, table_name) VALUES (?, ?, ?)"
                                + " ON CONFLICT DO NOTHING",
                        subid,
                        table.schema(),
                        table.name()));
    }

    /** The table is complete. */
    public static void remove(Connection connection, int subid, QualifiedName table) {
        int unused = run(
                "could not record created table \"" + table + "\"",
                () -> update(
                        connection,
                        "DELETE FROM pgapply.created_table WHERE subid = ? AND schema_name = ? AND table_name = ?",
                        subid,
                        table.schema(),
                        table.name()));
    }

    /** Ordered by name; none if the table of them is not there. */
    public static List<QualifiedName> read(Connection connection, int subid) {
        return run("could not read pgapply.created_table", () -> {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT schema_name, table_name FROM pgapply.created_table WHERE subid = ?"
                            + " ORDER BY schema_name, table_name")) {
                statement.setInt(1, subid);
                try (ResultSet row = statement.executeQuery()) {
                    List<QualifiedName> tables = new ArrayList<>();
                    while (row.next()) {
                        tables.add(new QualifiedName(row.getString(1), row.getString(2)));
                    }
                    return tables;
                }
            }
        });
    }
}
