package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.sql.SQLException;

/** Gives PostgreSQL's errors their kind (errcodes.txt), and with it the remedy. */
public final class PostgresErrors {

    private PostgresErrors() {}

    /** @param action what was being done, lower case and without full stop; empty where the server's sentence says enough */
    public static ApplyException translate(String action, SQLException e) {
        String state = e.getSQLState();
        String message = action.isEmpty() ? String.valueOf(e.getMessage()) : action + ": " + e.getMessage();
        return new ApplyException(kind(state == null ? "" : state), message, null, state, null, e);
    }

    private static Kind kind(String state) {
        if (state.isEmpty() || state.startsWith("08")) {
            return Kind.CONNECTION;
        }
        return Kind.DATA;
    }
}
