package dev.pgapply.worker.preflight;

import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.publisher.PublisherFacts;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The target's half of a preflight, but for its tables. Owned by the thread that runs it. It puts the session into the replica role where
 * the role may do that, as an apply session does, so that what fires afterwards is what would fire then.
 */
final class TargetCheck {

    private static final int FIRST_WITH_ORIGIN_SETTING = 18;

    private final SubscriptionOptions options;
    private final Connection connection;
    private final Findings findings;

    TargetCheck(SubscriptionOptions options, Connection connection, Findings findings) {
        this.options = options;
        this.connection = connection;
        this.findings = findings;
    }

    /** @return whether tables can be looked at */
    boolean run() {
        int major = PostgresConnections.serverMajorVersion(connection);
        checkVersion(major);
        if (major < PublisherFacts.OLDEST_MAJOR) {
            return false;
        }
        findings.check("target_read_only", this::checkWritable);
        findings.check("target_schema", this::checkSchema);
        findings.check("target_replication_role", this::checkReplicationRole);
        findings.check("target_origin", () -> checkOrigin(major));
        if (options.twoPhase()) {
            findings.check(
                    "target_two_phase",
                    () -> StreamStartCheck.requirePreparedTransactions(Integer.parseInt(CatalogQuestions.value(
                            connection, "SELECT current_setting('max_prepared_transactions')"))));
        }
        findings.check("target_publication", this::checkPublications);
        return true;
    }

    private void checkVersion(int major) {
        String version = CatalogQuestions.value(connection, "SELECT current_setting('server_version')");
        if (major < PublisherFacts.OLDEST_MAJOR) {
            findings.error(
                    "target_version",
                    "target runs PostgreSQL " + version + ", which is older than " + PublisherFacts.OLDEST_MAJOR,
                    "targets from PostgreSQL " + PublisherFacts.OLDEST_MAJOR + " on are supported");
            return;
        }
        if (major > PublisherFacts.NEWEST_MAJOR) {
            findings.warning(
                    "target_version",
                    "target runs PostgreSQL " + version + ", which is newer than this pgapply knows; it is treated as "
                            + PublisherFacts.NEWEST_MAJOR,
                    "look for a newer pgapply");
            return;
        }
        findings.ok("target_version", "target " + options.target().display() + " runs PostgreSQL " + version);
    }

    private void checkWritable() {
        if (CatalogQuestions.isTrue(connection, "SELECT pg_is_in_recovery()")) {
            findings.error(
                    "target_read_only", "target is a standby: nothing can be written to it", "connect to its primary");
        }
    }

    private void checkSchema() {
        String role = CatalogQuestions.role(connection);
        boolean exists = CatalogQuestions.isTrue(connection, "SELECT to_regnamespace('pgapply') IS NOT NULL");
        if (!exists) {
            if (!CatalogQuestions.isTrue(connection, "SELECT has_database_privilege(current_database(), 'CREATE')")) {
                findings.error(
                        "target_schema",
                        "role \"" + role
                                + "\" may not create schema \"pgapply\" in the target, where the subscription's state lives",
                        "GRANT CREATE ON DATABASE … TO \"" + role
                                + "\", or create the schema and give it to that role");
            }
            return;
        }
        boolean usable = CatalogQuestions.isTrue(
                connection,
                "SELECT has_schema_privilege('pgapply', 'USAGE') AND coalesce(bool_and("
                        + "has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')"
                        + " AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')),"
                        + " has_schema_privilege('pgapply', 'CREATE'))"
                        + " FROM pg_class WHERE relnamespace = to_regnamespace('pgapply') AND relkind = 'r'");
        if (!usable) {
            findings.error(
                    "target_schema",
                    "role \"" + role + "\" may not write to the tables of schema \"pgapply\" in the target",
                    "connect as the role that owns the schema, or grant USAGE on it and all rights on its tables");
        }
    }

    private void checkReplicationRole() {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET session_replication_role = replica");
            findings.ok("target_replication_role", "session_replication_role can be set to replica on the target");
        } catch (SQLException e) {
            findings.warning(
                    "target_replication_role",
                    "role \"" + CatalogQuestions.role(connection)
                            + "\" may not set session_replication_role on the target: ordinary triggers and foreign keys fire for every"
                            + " change, and tables with triggers are applied row by row",
                    "GRANT SET ON PARAMETER session_replication_role TO that role (PostgreSQL 15 and later), or connect as a superuser");
        }
    }

    private void checkOrigin(int major) {
        boolean permitted = CatalogQuestions.isTrue(
                connection,
                "SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc"
                        + " WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ('pg_replication_origin_create',"
                        + " 'pg_replication_origin_oid', 'pg_replication_origin_progress', 'pg_replication_origin_advance',"
                        + " 'pg_replication_origin_session_setup', 'pg_replication_origin_xact_setup')");
        if (!permitted) {
            findings.warning(
                    "target_origin",
                    "role \"" + CatalogQuestions.role(connection)
                            + "\" may not use replication origins on the target: its changes carry no origin there, so a publication with"
                            + " origin = none would send them on",
                    "GRANT EXECUTE on the pg_replication_origin_… functions, if the target publishes in turn");
            return;
        }
        String setting =
                major >= FIRST_WITH_ORIGIN_SETTING ? "max_active_replication_origins" : "max_replication_slots";
        int limit = Integer.parseInt(CatalogQuestions.value(connection, "SELECT current_setting(?)", setting));
        int active = Integer.parseInt(CatalogQuestions.value(
                connection,
                "SELECT count(*) FROM pg_replication_origin_status s JOIN pg_replication_origin o ON o.roident = s.local_id"
                        + " WHERE o.roname NOT LIKE 'pgapply\\_%'"));
        if (active >= limit) {
            findings.warning(
                    "target_origin",
                    "all " + limit + " replication origins of the target are in use (" + setting
                            + "): its changes will carry no origin there",
                    "raise " + setting + " and restart the target");
            return;
        }
        findings.ok("target_origin", "the target's changes carry a replication origin");
    }

    private void checkPublications() {
        for (var row : CatalogQuestions.query(connection, "SELECT pubname FROM pg_publication WHERE puballtables")) {
            findings.warning(
                    "target_publication",
                    "publication \"" + row.get(0)
                            + "\" of the target is FOR ALL TABLES: pgapply's own tables in schema \"pgapply\" are published with it",
                    "publish the tables or schemas by name (FOR TABLES IN SCHEMA), or leave schema \"pgapply\" out downstream");
        }
    }
}
