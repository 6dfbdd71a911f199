package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.ConnectionUrl;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLWarning;
import org.postgresql.util.ServerErrorMessage;

/**
 * Gives PostgreSQL's errors their kind (errcodes.txt), and with it the remedy. The message keeps the server's sentence and its detail;
 * nothing of a password is ever in either.
 */
public final class PostgresErrors {

    /** Longer details (a row printed in full) say nothing more to a person. */
    private static final int MAX_DETAIL_LENGTH = 1_000;

    /** The server ends, starts or refuses sessions: nothing is wrong with the data. */
    private static final Set<String> SERVER_GOES_OR_COMES = Set.of("57P01", "57P02", "57P03", "57P04", "57P05");

    /**
     * Too many connections, serialization failure, deadlock, read-only, lock not available, canceled, transaction lost with its
     * server's role: the same transaction may succeed a moment later.
     */
    private static final Set<String> TRANSIENT =
            Set.of("53300", "53400", "40001", "40P01", "40003", "25006", "55P03", "57014", "25P03", "25P04", "55006");

    private static final Set<String> FULL = Set.of("53100", "53200");

    /** Undefined table, column, object, schema, function; not a table of that kind; generated column; ambiguous or wrong type. */
    private static final Set<String> SCHEMA = Set.of(
            "42P01", "42703", "42704", "3F000", "42883", "42809", "428C9", "42804", "42846", "42P10", "0A000", "42P17",
            "42P18");

    /** A setting of the start-up packet, which a server that does not know it refuses. */
    private static final String KNOWN_FROM_14 = "unrecognized configuration parameter \"idle_session_timeout\"";

    private PostgresErrors() {}

    /**
     * @param action what was being done, lower case and without full stop; empty where the server's sentence says enough
     */
    public static ApplyException translate(String action, SQLException e) {
        SQLException shown = mostTelling(e);
        String sentence = sentence(shown);
        Kind kind = kind(shown, sentence);
        ServerErrorMessage server = serverMessage(shown);
        String column = server == null ? null : server.getColumn();
        return new ApplyException(
                kind,
                action.isEmpty() ? sentence : action + ": " + sentence,
                hint(kind, shown, server),
                shown.getSQLState(),
                column,
                e);
    }

    /** An error of a statement that applies changes: the server's sentence says enough, unless the connection is lost. */
    public static ApplyException applying(SQLException e) {
        return translate(isConnectionLost(e) ? "lost the connection to the target" : "", e);
    }

    /** An attempt to connect that failed; says to which endpoint, and what one can look at. */
    public static ApplyException whileConnecting(ConnectionUrl url, SQLException e) {
        ApplyException plain = translate("could not connect to " + url.display(), e);
        boolean tooOld = String.valueOf(e.getMessage()).contains(KNOWN_FROM_14);
        Kind kind = plain.kind() == Kind.DATA ? Kind.CONNECTION : plain.kind();
        return new ApplyException(
                tooOld ? Kind.PRECONDITION : kind,
                plain.getMessage(),
                tooOld ? "servers from PostgreSQL 14 on are supported" : connectHint(url, e, plain.hint()),
                plain.sqlState(),
                plain.column(),
                e);
    }

    /** Whether the connection is gone with this error, so that the outcome of what was under way is unknown. */
    public static boolean isConnectionLost(SQLException e) {
        return kind(mostTelling(e), "") == Kind.CONNECTION;
    }

    /** A batch's exception says only which entry failed; the server's error hangs behind it. */
    private static SQLException mostTelling(SQLException e) {
        SQLException next = e;
        while (next != null) {
            if (serverMessage(next) != null) {
                return next;
            }
            next = next.getNextException();
        }
        return e;
    }

    private static @Nullable ServerErrorMessage serverMessage(SQLException e) {
        if (e instanceof PSQLWarning warning) {
            return warning.getServerErrorMessage();
        }
        return e instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    }

    private static Kind kind(SQLException e, String sentence) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        if (state.startsWith("08") || SERVER_GOES_OR_COMES.contains(state)) {
            return Kind.CONNECTION;
        }
        if (state.startsWith("28")) {
            return Kind.AUTHENTICATION;
        }
        if (TRANSIENT.contains(state)) {
            return Kind.TRANSIENT;
        }
        if (FULL.contains(state) || (state.startsWith("58") && saysNoSpace(sentence))) {
            return Kind.TARGET_FULL;
        }
        if (state.equals("23505")) {
            return Kind.CONFLICT;
        }
        if (state.equals("42501")) {
            return Kind.PERMISSION;
        }
        if (SCHEMA.contains(state)) {
            return Kind.SCHEMA_MISMATCH;
        }
        if (serverMessage(e) == null && causedBy(e, IOException.class) != null) {
            return Kind.CONNECTION;
        }
        return Kind.DATA;
    }

    private static boolean saysNoSpace(String sentence) {
        return sentence.toLowerCase(Locale.ROOT).contains("no space left");
    }

    private static String sentence(SQLException e) {
        ServerErrorMessage server = serverMessage(e);
        if (server != null && server.getMessage() != null) {
            String detail = server.getDetail();
            return detail == null
                    ? withoutStop(server.getMessage())
                    : withoutStop(server.getMessage()) + ": " + withoutStop(shortened(detail));
        }
        UnknownHostException unknown = causedBy(e, UnknownHostException.class);
        if (unknown != null) {
            return "unknown host \"" + unknown.getMessage() + "\"";
        }
        SSLException tls = causedBy(e, SSLException.class);
        if (tls != null && tls.getMessage() != null) {
            return "TLS failed: " + withoutStop(tls.getMessage());
        }
        if (causedBy(e, ConnectException.class) != null) {
            return "connection refused";
        }
        if (causedBy(e, SocketTimeoutException.class) != null) {
            return "no answer in time";
        }
        if (causedBy(e, EOFException.class) != null) {
            return "the server closed the connection";
        }
        String message = e.getMessage() == null ? "unknown error" : e.getMessage();
        IOException io = causedBy(e, IOException.class);
        if (io != null && io.getMessage() != null) {
            return lowerFirst(withoutStop(message)) + " (" + withoutStop(io.getMessage()) + ")";
        }
        return lowerFirst(withoutStop(message));
    }

    private static @Nullable String hint(Kind kind, SQLException e, @Nullable ServerErrorMessage server) {
        String state = e.getSQLState();
        if (server != null && server.getHint() != null) {
            return server.getHint();
        }
        if ("25006".equals(state)) {
            return "the server is read-only: a standby, or default_transaction_read_only is on";
        }
        if ("23503".equals(state)) {
            return "foreign keys are checked because the role may not set session_replication_role, row by row unless they are"
                    + " deferrable: GRANT SET ON PARAMETER session_replication_role TO it (PostgreSQL 15 and later), connect as a"
                    + " superuser, or ALTER TABLE … ALTER CONSTRAINT … DEFERRABLE on the target";
        }
        if ("53300".equals(state)) {
            return "raise max_connections, or end sessions that are not needed";
        }
        return switch (kind) {
            case TARGET_FULL -> "make room on the server; pgapply goes on by itself";
            case PERMISSION -> "grant the privilege to the role that pgapply connects as";
            default -> null;
        };
    }

    private static @Nullable String connectHint(ConnectionUrl url, SQLException e, @Nullable String other) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        ServerErrorMessage server = serverMessage(e);
        if (state.startsWith("28")) {
            if (server != null
                    && server.getMessage() != null
                    && server.getMessage().contains("pg_hba.conf")) {
                return "add a line for this client, user and database to the server's pg_hba.conf and reload it";
            }
            return "check the user and the password for " + url.display();
        }
        if (state.equals("3D000")) {
            return "check the database's name in the URL";
        }
        if (causedBy(e, UnknownHostException.class) != null) {
            return "check the host's name in the URL";
        }
        if (causedBy(e, ConnectException.class) != null) {
            return "check host and port, and that the server runs and listens there (listen_addresses)";
        }
        return other;
    }

    private static <T extends Throwable> @Nullable T causedBy(SQLException e, Class<T> type) {
        Throwable cause = e;
        for (int depth = 0; cause != null && depth < 10; depth++) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
            cause = cause.getCause();
        }
        return null;
    }

    private static String withoutStop(String text) {
        String trimmed = text.strip();
        return trimmed.endsWith(".") ? trimmed.substring(0, trimmed.length() - 1) : trimmed;
    }

    private static String shortened(String detail) {
        return detail.length() <= MAX_DETAIL_LENGTH ? detail : detail.substring(0, MAX_DETAIL_LENGTH) + "…";
    }

    private static String lowerFirst(String text) {
        boolean acronym = text.length() > 1 && Character.isUpperCase(text.charAt(1));
        return text.isEmpty() || acronym ? text : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
