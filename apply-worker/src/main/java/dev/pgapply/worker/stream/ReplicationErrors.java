package dev.pgapply.worker.stream;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.SQLWarning;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Gives the walsender's errors their kind. The SQLSTATE decides, and when it came: messages are in the server's language.
 */
final class ReplicationErrors {

    private static final String OBJECT_IN_USE = "55006";
    private static final String UNDEFINED_OBJECT = "42704";
    private static final String OBJECT_NOT_IN_PREREQUISITE_STATE = "55000";
    private static final String INVALID_PARAMETER_VALUE = "22023";

    /** What elog(ERROR) of the decoding has (reorderbuffer.c). */
    private static final String INTERNAL_ERROR = "XX000";

    private static final String SLOT_LOST_HINT =
            "changes after the slot's last confirmed position may be lost, so no slot is created"
                    + " silently: drop the subscription and set it up again with a new copy";

    private static final String PUBLICATION_HINT =
            "a change is decoded with the publisher's catalog of its own time, so creating the"
                    + " publication again does not help for the changes in between: set the subscription up again with a new slot and a"
                    + " new copy; if it was only just created and added to the configuration, take it out there until the slot has"
                    + " passed its creation";

    private static final String DECODING_HINT =
            "the publisher's own decoding has failed; with streaming on or parallel, a transaction that it could not decode in progress"
                    + " is asked for whole the next time, or the one after where it is newer than this try";

    private ReplicationErrors() {}

    /** Whether the walsender failed at decoding, and not at what it was asked for. */
    static boolean isOfDecoding(ApplyException inStream) {
        return INTERNAL_ERROR.equals(inStream.sqlState());
    }

    /** The answer to START_REPLICATION (slot.c, ReplicationSlotAcquire; logical.c, CreateDecodingContext). */
    static ApplyException atStart(String slotName, SQLException e) {
        ApplyException plain =
                PostgresErrors.translate("could not start replication from slot \"" + slotName + "\"", e);
        return switch (state(plain)) {
            case OBJECT_IN_USE -> as(Kind.SLOT_IN_USE, plain, "end what uses the slot, or wait for its end");
            case UNDEFINED_OBJECT -> as(Kind.SLOT_LOST, plain, SLOT_LOST_HINT);
            case OBJECT_NOT_IN_PREREQUISITE_STATE ->
                plain.getMessage().contains("wal_level")
                        ? as(Kind.PRECONDITION, plain, "set wal_level = logical on the publisher and restart it")
                        : as(Kind.SLOT_LOST, plain, SLOT_LOST_HINT);
            case INVALID_PARAMETER_VALUE -> as(Kind.PRECONDITION, plain, "the slot's output plugin must be pgoutput");
            default -> plain;
        };
    }

    /**
     * An error while streaming.
     *
     * @param lastBytes what came last: a server that closes the connection says why in the stream's last message, which pgjdbc drops
     */
    static ApplyException inStream(String slotName, SQLException e, byte[] lastBytes) {
        ApplyException plain = PostgresErrors.translate("replication from slot \"" + slotName + "\" stopped", e);
        return switch (state(plain)) {
            case UNDEFINED_OBJECT -> as(Kind.PRECONDITION, plain, PUBLICATION_HINT);
            case OBJECT_NOT_IN_PREREQUISITE_STATE -> as(Kind.SLOT_LOST, plain, SLOT_LOST_HINT);
            case INTERNAL_ERROR -> as(plain.kind(), plain, DECODING_HINT);
            default -> plain.kind() == Kind.CONNECTION ? lost(e, lastBytes) : plain;
        };
    }

    /**
     * From 18 on a publication that does not exist where the walsender decodes is a warning, and the changes of its tables are left out
     * (pgoutput.c, LoadPublications); before, it is an error. To go on would lose them without a word.
     *
     * @throws ApplyException if the warning says that
     */
    static void refuseSkippedPublication(String slotName, SQLWarning warning) {
        if (OBJECT_NOT_IN_PREREQUISITE_STATE.equals(warning.getSQLState())) {
            ApplyException plain =
                    PostgresErrors.translate("replication from slot \"" + slotName + "\" stopped", warning);
            throw as(Kind.PRECONDITION, plain, PUBLICATION_HINT);
        }
    }

    /** The server has ended the copy by itself. */
    static ApplyException ended() {
        return new ApplyException(Kind.CONNECTION, "the publisher ended the replication stream");
    }

    private static ApplyException lost(SQLException e, byte[] lastBytes) {
        ServerErrorMessage farewell = lastWords(lastBytes);
        SQLException telling = farewell == null ? e : new PSQLException(farewell);
        String message = PostgresErrors.translate("lost the connection to the publisher", telling)
                .getMessage();
        return new ApplyException(Kind.CONNECTION, message, null, telling.getSQLState(), null, e);
    }

    private static String state(ApplyException e) {
        return e.sqlState() == null ? "" : e.sqlState();
    }

    private static ApplyException as(Kind kind, ApplyException e, String hint) {
        return new ApplyException(kind, e.getMessage(), hint, e.sqlState(), null, e.getCause());
    }

    /**
     * The ErrorResponse that ends exactly where the bytes end, if there is one. For the sentence only, so a guess is good enough; under
     * TLS there is none.
     */
    static @Nullable ServerErrorMessage lastWords(byte[] bytes) {
        for (int start = bytes.length - 7; start >= 0; start--) {
            if (bytes[start] == 'E' && isErrorResponse(bytes, start)) {
                String fields = new String(bytes, start + 5, bytes.length - start - 5, StandardCharsets.UTF_8);
                return new ServerErrorMessage(fields);
            }
        }
        return null;
    }

    private static boolean isErrorResponse(byte[] bytes, int start) {
        int length = (bytes[start + 1] & 0xFF) << 24
                | (bytes[start + 2] & 0xFF) << 16
                | (bytes[start + 3] & 0xFF) << 8
                | (bytes[start + 4] & 0xFF);
        return length == bytes.length - start - 1 && bytes[start + 5] == 'S' && bytes[bytes.length - 1] == 0;
    }
}
