package dev.pgapply.worker.catalog;

import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * Which cluster and database a subscription lives in: a clone of it has the same rows and is another one.
 *
 * @param systemIdentifier null where the role may not read it (pg_control_system)
 */
public record TargetIdentity(@Nullable String systemIdentifier, long databaseOid) {

    public static TargetIdentity read(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            boolean permitted;
            long databaseOid;
            try (ResultSet row = statement.executeQuery(
                    "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE'), oid::bigint"
                            + " FROM pg_database WHERE datname = current_database()")) {
                row.next();
                permitted = row.getBoolean(1);
                databaseOid = row.getLong(2);
            }
            if (!permitted) {
                return new TargetIdentity(null, databaseOid);
            }
            try (ResultSet row = statement.executeQuery("SELECT system_identifier FROM pg_control_system()")) {
                row.next();
                return new TargetIdentity(Long.toUnsignedString(row.getLong(1)), databaseOid);
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not ask the target for its identity", e);
        }
    }
}
