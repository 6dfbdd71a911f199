package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.RelationMapping;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublishedTable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The target's tables before a copy: whether they can take it, and how they are emptied for another try. Owned by the thread that owns
 * the connection.
 */
public final class TargetTables {

    /** Counting on is of no use to anybody who is told that the table is not empty. */
    private static final int COUNT_LIMIT = 100_000;

    /** Referenced by a foreign key, or no privilege to truncate: a DELETE does as well. */
    private static final Set<String> TRUNCATE_REFUSED = Set.of("0A000", "42501");

    private final Connection connection;
    private final Target target;

    TargetTables(Connection connection, Target target) {
        this.connection = connection;
        this.target = target;
    }

    /** @throws ApplyException of kind SCHEMA_MISMATCH or PERMISSION if the target cannot take the table */
    TableCopy plan(PublishedTable published) {
        return plan(published, target.describe(published.name()));
    }

    /** The same for a table that is described already. */
    TableCopy plan(PublishedTable published, @Nullable TargetTable described) {
        return TableCopy.of(published, RelationMapping.map(published.toRelation(), described, published.name()));
    }

    /** Those that are there. */
    Map<QualifiedName, TargetTable> describe(List<PublishedTable> published) {
        return target.describe(published.stream().map(PublishedTable::name).toList());
    }

    /** @throws ApplyException of kind PRECONDITION naming every table that has rows already, and how many */
    void requireEmpty(List<TableCopy> copies) {
        List<String> filled = new ArrayList<>();
        for (TableCopy copy : copies) {
            String rows = describeRows(connection, copy.target());
            if (!rows.isEmpty()) {
                filled.add("table \"" + copy.target().name() + "\" has " + rows);
            }
        }
        if (!filled.isEmpty()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "target is not empty: " + String.join(", ", filled),
                    "empty it (TRUNCATE), or set copy_data: false to keep its rows and begin with the changes from now on");
        }
    }

    /** How many rows the table has, for people: {@code 3 rows}; empty if it has none. */
    public static String describeRows(Connection connection, TargetTable table) {
        String sql = "SELECT count(*) FROM (SELECT FROM " + rowsOf(table) + " LIMIT " + (COUNT_LIMIT + 1) + ") r";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            int count = row.getInt(1);
            if (count > COUNT_LIMIT) {
                return "more than " + COUNT_LIMIT + " rows";
            }
            return count == 0 ? "" : count == 1 ? "1 row" : count + " rows";
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read target table \"" + table.name() + "\"", e);
        }
    }

    /** Takes back what an unfinished copy has put into the tables; those that are gone need nothing. In one transaction of its own. */
    void empty(List<QualifiedName> tables) {
        // Described before the first lock is taken: a description comes over another session.
        Collection<TargetTable> described = target.describe(tables).values();
        try (Statement statement = connection.createStatement()) {
            statement.execute("BEGIN");
            for (TargetTable table : described) {
                empty(statement, table);
            }
            statement.execute("COMMIT");
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not empty the target's tables for another copy", e);
        }
    }

    private static void empty(Statement statement, TargetTable table) throws SQLException {
        statement.execute("SAVEPOINT emptying");
        try {
            statement.execute("TRUNCATE TABLE " + rowsOf(table));
        } catch (SQLException e) {
            if (!TRUNCATE_REFUSED.contains(String.valueOf(e.getSQLState()))) {
                throw e;
            }
            statement.execute("ROLLBACK TO SAVEPOINT emptying");
            statement.execute("DELETE FROM " + rowsOf(table));
        }
        statement.execute("RELEASE SAVEPOINT emptying");
    }

    /** Without ONLY, what inherits from a plain table would be read and emptied too. */
    private static String rowsOf(TargetTable table) {
        String name = Identifiers.quote(table.name());
        return table.kind() == TargetTable.Kind.PARTITIONED ? name : "ONLY " + name;
    }
}
