package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;
import org.postgresql.util.ServerErrorMessage;

class ReplicationErrorsTest {

    @Test
    void a_slot_in_use_keeps_the_pid() {
        ApplyException e =
                ReplicationErrors.atStart("s", server("55006", "replication slot \"s\" is active for PID 123"));

        assertThat(e.kind()).isEqualTo(Kind.SLOT_IN_USE);
        assertThat(e.getMessage()).contains("is active for PID 123");
    }

    @Test
    void a_failure_to_decode_is_known_from_what_was_asked_wrongly() {
        ApplyException decoding = ReplicationErrors.inStream(
                "s", server("XX000", "could not map filenumber \"base/1/2\" to relation OID"), new byte[0]);
        ApplyException other = ReplicationErrors.inStream("s", server("42704", "no publication"), new byte[0]);

        assertThat(ReplicationErrors.isOfDecoding(decoding)).isTrue();
        assertThat(decoding.hint()).contains("asked for whole the next time");
        assertThat(ReplicationErrors.isOfDecoding(other)).isFalse();
    }

    @Test
    void a_missing_or_invalidated_slot_is_lost_and_nothing_is_recreated() {
        ApplyException missing =
                ReplicationErrors.atStart("s", server("42704", "replication slot \"s\" does not exist"));
        ApplyException invalidated =
                ReplicationErrors.atStart("s", server("55000", "can no longer access replication slot \"s\""));

        assertThat(missing.kind()).isEqualTo(Kind.SLOT_LOST);
        assertThat(invalidated.kind()).isEqualTo(Kind.SLOT_LOST);
        assertThat(invalidated.getMessage()).contains("can no longer access replication slot \"s\"");
        assertThat(invalidated.hint()).contains("no slot is created");
    }

    @Test
    void a_wal_level_that_is_too_low_is_a_precondition() {
        ApplyException e = ReplicationErrors.atStart(
                "s", server("55000", "logical decoding requires \"wal_level\" >= \"logical\""));

        assertThat(e.kind()).isEqualTo(Kind.PRECONDITION);
    }

    @Test
    void a_server_that_says_why_it_closes_is_quoted() {
        byte[] fatal = message("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");
        byte[] tail = ByteBuffer.allocate(3 + fatal.length)
                .put((byte) 'd')
                .put((byte) 'E')
                .put((byte) 0)
                .put(fatal)
                .array();

        ApplyException e = ReplicationErrors.inStream("s", lost(), tail);

        assertThat(e.kind()).isEqualTo(Kind.CONNECTION);
        assertThat(e.getMessage())
                .isEqualTo("lost the connection to the publisher: terminating connection due to administrator command");
    }

    @Test
    void a_server_that_says_nothing_has_closed_the_connection() {
        ApplyException e = ReplicationErrors.inStream("s", lost(), new byte[] {'E', 0, 0, 0, 9, 'S', 1, 2});

        assertThat(e.kind()).isEqualTo(Kind.CONNECTION);
        assertThat(e.getMessage()).isEqualTo("lost the connection to the publisher: the server closed the connection");
    }

    private static SQLException lost() {
        return new PSQLException("reading failed", PSQLState.CONNECTION_FAILURE, new EOFException());
    }

    private static SQLException server(String state, String message) {
        return new PSQLException(new ServerErrorMessage("SERROR\0C" + state + "\0M" + message + "\0\0"));
    }

    private static byte[] message(String fields) {
        byte[] text = fields.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(5 + text.length)
                .put((byte) 'E')
                .putInt(4 + text.length)
                .put(text)
                .array();
    }
}
