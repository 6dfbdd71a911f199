package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.ConnectionUrl;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;
import org.postgresql.util.ServerErrorMessage;

class PostgresErrorsTest {

    private static PSQLException server(String state, String message, String fields) {
        return new PSQLException(new ServerErrorMessage("SERROR\0C" + state + "\0M" + message + "\0" + fields + "\0"));
    }

    @ParameterizedTest
    @CsvSource({
        "57P01, terminating connection due to administrator command, CONNECTION",
        "57P03, the database system is starting up, CONNECTION",
        "08006, connection failure, CONNECTION",
        "28P01, password authentication failed for user \"a\", AUTHENTICATION",
        "28000, no pg_hba.conf entry for host \"1.2.3.4\", AUTHENTICATION",
        "53300, sorry too many clients already, TRANSIENT",
        "40001, could not serialize access, TRANSIENT",
        "40P01, deadlock detected, TRANSIENT",
        "25006, cannot execute UPDATE in a read-only transaction, TRANSIENT",
        "55P03, canceling statement due to lock timeout, TRANSIENT",
        "53100, could not extend file, TARGET_FULL",
        "58030, could not write to file \"x\": No space left on device, TARGET_FULL",
        "58030, could not read block 7, DATA",
        "23505, duplicate key value violates unique constraint \"t_pkey\", CONFLICT",
        "23502, null value in column \"a\" violates not-null constraint, DATA",
        "22P02, invalid input syntax for type integer, DATA",
        "P0001, raised by a trigger, DATA",
        "42501, permission denied for table t, PERMISSION",
        "42P01, relation \"t\" does not exist, SCHEMA_MISMATCH",
        "42703, column \"c\" does not exist, SCHEMA_MISMATCH"
    })
    void a_state_has_its_kind(String state, String message, Kind kind) {
        ApplyException e = PostgresErrors.translate("", server(state, message, ""));

        assertThat(e.kind()).isEqualTo(kind);
        assertThat(e.sqlState()).isEqualTo(state);
        assertThat(e).hasMessage(message);
    }

    @Test
    void the_detail_follows_the_sentence_and_the_column_is_kept() {
        ApplyException e = PostgresErrors.translate(
                "could not apply", server("23505", "duplicate key", "DKey (id)=(1) already exists.\0cid\0"));

        assertThat(e).hasMessage("could not apply: duplicate key: Key (id)=(1) already exists");
        assertThat(e.column()).isEqualTo("id");
    }

    @Test
    void of_a_failed_batch_the_servers_error_is_told() {
        BatchUpdateException batch =
                new BatchUpdateException("Batch entry 0 UPDATE secret was aborted", "23505", new int[0]);
        batch.setNextException(server("23505", "duplicate key", ""));

        assertThat(PostgresErrors.translate("", batch)).hasMessage("duplicate key");
    }

    @Test
    void what_the_network_says_is_a_lost_connection() {
        SQLException unknown = new PSQLException(
                "The connection attempt failed.",
                PSQLState.CONNECTION_UNABLE_TO_CONNECT,
                new UnknownHostException("db9"));
        SQLException ended = new PSQLException(
                "An I/O error occurred while sending to the backend.",
                PSQLState.CONNECTION_FAILURE,
                new EOFException());
        SQLException withoutState = new SQLException("broken", new IOException("Connection reset"));

        assertThat(PostgresErrors.translate("", unknown)).hasMessage("unknown host \"db9\"");
        assertThat(PostgresErrors.translate("", ended)).hasMessage("the server closed the connection");
        assertThat(PostgresErrors.translate("", withoutState).kind()).isEqualTo(Kind.CONNECTION);
        assertThat(PostgresErrors.isConnectionLost(withoutState)).isTrue();
    }

    @Test
    void a_server_that_is_too_old_to_know_our_settings_is_named_as_that() {
        ApplyException e = PostgresErrors.whileConnecting(
                ConnectionUrl.parse("postgresql://a@h:1/d", null, "a"),
                server("42704", "unrecognized configuration parameter \"idle_session_timeout\"", ""));

        assertThat(e.kind()).isEqualTo(Kind.PRECONDITION);
        assertThat(e.hint()).isEqualTo("servers from PostgreSQL 14 on are supported");
    }
}
