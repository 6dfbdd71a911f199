package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * The schema {@code pgapply} in the target and its versions. Created and migrated when first needed, by whichever subscription comes
 * first; an advisory lock makes the others wait.
 */
final class CatalogSchema {

    /** The advisory lock of who migrates: "pgapply" in ASCII, no subid can give it ({@link Ownership} uses the other half). */
    private static final long MIGRATION_LOCK = 0x70676170706c79L;

    /**
     * One script a version; never changed once released, only followed. The prepared transactions' table has no foreign key: its check
     * would let a prepared transaction hold a lock on the subscription's row.
     */
    private static final List<String> VERSIONS = List.of("""
            CREATE TABLE pgapply.subscription (
                subid int PRIMARY KEY CHECK (subid > 0),
                name text NOT NULL UNIQUE,
                enabled boolean NOT NULL DEFAULT true,
                disabled_reason text,
                slot_state text NOT NULL DEFAULT 'none' CHECK (slot_state IN ('none', 'creating', 'copying', 'ready')),
                slot_name text NOT NULL,
                publisher_system_identifier text NOT NULL,
                publisher_timeline int NOT NULL,
                publisher_database text NOT NULL,
                target_system_identifier text,
                target_database_oid oid NOT NULL,
                consistent_point pg_lsn,
                created_at timestamptz NOT NULL DEFAULT now(),
                UNIQUE (publisher_system_identifier, slot_name)
            );
            CREATE TABLE pgapply.subscription_rel (
                subid int NOT NULL REFERENCES pgapply.subscription ON DELETE CASCADE,
                schema_name text NOT NULL,
                table_name text NOT NULL,
                state "char" NOT NULL CHECK (state IN ('i', 'd', 's', 'r')),
                sync_lsn pg_lsn,
                rows_copied bigint NOT NULL DEFAULT 0,
                bytes_copied bigint NOT NULL DEFAULT 0,
                error text,
                PRIMARY KEY (subid, schema_name, table_name)
            );
            CREATE TABLE pgapply.origin_status (
                subid int NOT NULL REFERENCES pgapply.subscription ON DELETE CASCADE,
                apply_session int NOT NULL,
                remote_lsn pg_lsn NOT NULL DEFAULT '0/0',
                remote_commit_time timestamptz,
                idle_lsn pg_lsn NOT NULL DEFAULT '0/0',
                PRIMARY KEY (subid, apply_session)
            ) WITH (fillfactor = 10);
            CREATE TABLE pgapply.epoch (
                subid int PRIMARY KEY REFERENCES pgapply.subscription ON DELETE CASCADE,
                epoch int NOT NULL DEFAULT 0
            );
            COMMENT ON SCHEMA pgapply IS 'state of pgapply subscriptions into this database';
            """, """
            ALTER TABLE pgapply.subscription ADD COLUMN two_phase_state "char" NOT NULL DEFAULT 'd'
                CHECK (two_phase_state IN ('d', 'p', 'e'));
            CREATE TABLE pgapply.prepared_transaction (
                subid int NOT NULL,
                gid text NOT NULL,
                finished boolean NOT NULL,
                prepare_end_lsn pg_lsn NOT NULL,
                prepare_time timestamptz NOT NULL,
                PRIMARY KEY (subid, gid, finished)
            );
            COMMENT ON COLUMN pgapply.prepared_transaction.finished IS
                'false: recorded before PREPARE TRANSACTION; true: inserted by the prepared transaction itself';
            """, """
            CREATE TABLE pgapply.created_table (
                subid int NOT NULL REFERENCES pgapply.subscription ON DELETE CASCADE,
                schema_name text NOT NULL,
                table_name text NOT NULL,
                PRIMARY KEY (subid, schema_name, table_name)
            );
            COMMENT ON TABLE pgapply.created_table IS
                'tables made by create_tables that do not have all their indexes and foreign keys yet';
            """, """
            ALTER TABLE pgapply.subscription_rel DROP CONSTRAINT subscription_rel_state_check;
            ALTER TABLE pgapply.subscription_rel ADD CONSTRAINT subscription_rel_state_check
                CHECK (state IN ('i', 'd', 'f', 's', 'r'));
            ALTER TABLE pgapply.subscription_rel ADD COLUMN published_as text;
            COMMENT ON COLUMN pgapply.subscription_rel.published_as IS
                'what the publisher''s catalogs had of the table when it was copied: its oid and its memberships in publications';
            """);

    private CatalogSchema() {}

    static boolean exists(Connection connection) throws SQLException {
        return queryBoolean(connection, "SELECT to_regclass('pgapply.schema_version') IS NOT NULL");
    }

    /** Commits. */
    static void migrate(Connection connection) throws SQLException {
        if (exists(connection) && version(connection) == VERSIONS.size()) {
            return;
        }
        DurableTransaction.commit(connection, () -> {
            execute(connection, "SELECT pg_advisory_xact_lock(" + MIGRATION_LOCK + ")");
            if (!queryBoolean(connection, "SELECT to_regnamespace('pgapply') IS NOT NULL")) {
                execute(connection, "CREATE SCHEMA pgapply");
            }
            if (!exists(connection)) {
                execute(
                        connection,
                        "CREATE TABLE pgapply.schema_version (version int NOT NULL);"
                                + " INSERT INTO pgapply.schema_version VALUES (0)");
            }
            for (int version = version(connection); version < VERSIONS.size(); version++) {
                execute(connection, VERSIONS.get(version));
            }
            execute(connection, "UPDATE pgapply.schema_version SET version = " + VERSIONS.size());
            return true;
        });
    }

    private static int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT version FROM pgapply.schema_version")) {
            int version = row.next() ? row.getInt(1) : 0;
            if (version > VERSIONS.size()) {
                throw ApplyException.withHint(
                        Kind.PRECONDITION,
                        "schema pgapply of the target has version " + version + ", this pgapply knows versions up to "
                                + VERSIONS.size(),
                        "a newer pgapply has been here: run that one");
            }
            return version;
        }
    }

    private static boolean queryBoolean(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() && row.getBoolean(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
