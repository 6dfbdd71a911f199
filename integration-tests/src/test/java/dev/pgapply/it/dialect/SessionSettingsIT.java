package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.worker.jdbc.PostgresConnections;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a session has, whatever the role's, the database's and the machine's own settings are (CASES.md O01, O02, F04). */
class SessionSettingsIT {

    private static PostgresConnections connections(Database database, String user, String password, String options) {
        String url =
                "postgresql://" + user + "@127.0.0.1:" + database.server().port() + "/" + database.name() + options;
        return new PostgresConnections(ConnectionUrl.parse(url, password, PostgresServer.SUPERUSER));
    }

    private static Map<String, String> settings(Connection connection, String... names) throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement()) {
            for (String name : names) {
                try (ResultSet row = statement.executeQuery("SHOW " + name)) {
                    row.next();
                    settings.put(name, row.getString(1));
                }
            }
        }
        return settings;
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void defaults_of_role_and_database_do_not_reach_a_session(int version) throws SQLException {
        try (DatabasePair pair = DatabasePair.shared(version, version)) {
            String role = pair.name() + "_role";
            String database = "ALTER DATABASE " + pair.name() + " SET ";
            Database maintenance = pair.target().server().maintenance();
            maintenance.execute(
                    "CREATE ROLE " + role + " LOGIN PASSWORD 'it-S3cret'",
                    "ALTER ROLE " + role + " SET default_transaction_isolation = 'serializable'",
                    "ALTER ROLE " + role + " SET datestyle = 'German'",
                    database + "default_transaction_read_only = on",
                    database + "statement_timeout = '1s'",
                    database + "lock_timeout = '1s'",
                    database + "idle_in_transaction_session_timeout = '1s'",
                    database + "idle_session_timeout = '10s'",
                    database + "search_path = public, pg_catalog",
                    database + "timezone = 'America/New_York'",
                    database + "bytea_output = 'escape'",
                    database + "extra_float_digits = 0",
                    database + "intervalstyle = 'iso_8601'");
            if (version >= 17) {
                maintenance.execute(database + "transaction_timeout = '1min'");
            }
            PostgresConnections connections = connections(
                    pair.target(), role, "it-S3cret", "?options=-c%20lock_timeout%3D5s%20-c%20work_mem%3D9MB");
            try (Connection session = connections.openTarget("pgapply x apply")) {
                assertThat(settings(
                                session,
                                "default_transaction_isolation",
                                "default_transaction_read_only",
                                "datestyle",
                                "statement_timeout",
                                "lock_timeout",
                                "idle_in_transaction_session_timeout",
                                "idle_session_timeout",
                                "search_path",
                                "timezone",
                                "bytea_output",
                                "extra_float_digits",
                                "intervalstyle",
                                "application_name",
                                "tcp_keepalives_idle",
                                "client_connection_check_interval",
                                "row_security",
                                "work_mem"))
                        .hasToString("{default_transaction_isolation=read committed, default_transaction_read_only=off,"
                                + " datestyle=ISO, MDY, statement_timeout=0, lock_timeout=0,"
                                + " idle_in_transaction_session_timeout=0, idle_session_timeout=0, search_path=\"\","
                                + " timezone=UTC, bytea_output=hex, extra_float_digits=3, intervalstyle=postgres,"
                                + " application_name=pgapply x apply, tcp_keepalives_idle=10,"
                                + " client_connection_check_interval=5s, row_security=off, work_mem=9MB}");
                if (version >= 17) {
                    assertThat(settings(session, "transaction_timeout")).containsValue("0");
                }
            }
            maintenance.execute("DROP ROLE " + role);
        }
    }

    @Test
    void a_walsender_takes_the_urls_application_name_and_other_sessions_do_not() throws SQLException {
        try (DatabasePair pair = DatabasePair.shared()) {
            PostgresConnections connections = connections(
                    pair.publisher(), PostgresServer.SUPERUSER, PostgresServer.PASSWORD, "?application_name=mine");
            try (Connection walsender = connections.openReplication("orders");
                    Connection ordinary = connections.open("pgapply orders catalog")) {
                assertThat(settings(walsender, "application_name", "search_path", "timezone"))
                        .hasToString("{application_name=mine, search_path=\"\", timezone=UTC}");
                assertThat(settings(ordinary, "application_name")).containsValue("pgapply orders catalog");
            }
        }
    }

    @Test
    void a_refused_connection_says_to_which_endpoint_and_never_the_password() {
        try (DatabasePair pair = DatabasePair.shared()) {
            Database missing = pair.target().server().database("no_such_database");
            assertThatThrownBy(
                            () -> connections(missing, "postgres", "s3cret", "").open("x"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("could not connect to postgresql://postgres@127.0.0.1")
                    .hasMessageContaining("database \"no_such_database\" does not exist")
                    .hasMessageNotContaining("s3cret")
                    .extracting(e -> ((ApplyException) e).kind())
                    .isEqualTo(Kind.CONNECTION);
            assertThatThrownBy(() ->
                            connections(pair.target(), "nobody", "s3cret", "").open("x"))
                    .hasMessageContaining("role \"nobody\" does not exist")
                    .extracting(e -> ((ApplyException) e).kind())
                    .isEqualTo(Kind.AUTHENTICATION);
        }
        ConnectionUrl nobodyListens = ConnectionUrl.parse("postgresql://a@127.0.0.1:1/b", "s3cret", "a");
        assertThatThrownBy(() -> new PostgresConnections(nobodyListens).open("x"))
                .hasMessage("could not connect to postgresql://a@127.0.0.1:1/b: connection refused")
                .extracting(e -> ((ApplyException) e).hint())
                .asString()
                .contains("listen_addresses");
    }
}
