package dev.pgapply.core;

import org.jspecify.annotations.Nullable;

/**
 * The one exception of pgapply. Its {@link Kind} decides the remedy; its message says only what failed, and where it failed is
 * added once, by the worker's loop.
 */
public final class ApplyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What the subscription does about it. */
    public enum Remedy {
        /** Reconnect with waits, for ever; nothing is wrong with the data. */
        RECONNECT,
        /** An error of the data: count it, then retry with waits, or disable where {@code disable_on_error} says so. */
        RETRY_OR_DISABLE,
        /** Nothing but a person can mend it: report it and look again with long waits; change nothing on either side. */
        STOP,
        /** The configuration or command is wrong: refuse to start. */
        REFUSE
    }

    /** What kind of thing went wrong. */
    public enum Kind {
        /** A server cannot be reached, or a connection was lost. */
        CONNECTION(Remedy.RECONNECT),
        /** A server refused the credentials. */
        AUTHENTICATION(Remedy.RECONNECT),
        /** A transient answer of the target: deadlock, serialization failure, read-only, too many connections, shutting down. */
        TRANSIENT(Remedy.RECONNECT),
        /** The slot is in use, or cannot be had just now. */
        SLOT_IN_USE(Remedy.RECONNECT),
        /** Another engine owns the subscription, or took it over. */
        OWNERSHIP_LOST(Remedy.RECONNECT),
        /** The publisher sent bytes that are no message of its protocol. */
        PROTOCOL_VIOLATION(Remedy.RETRY_OR_DISABLE),
        /** A value or row that the target refuses: constraint, type, length. */
        DATA(Remedy.RETRY_OR_DISABLE),
        /** A row that the target already has (insert_exists, update_exists). */
        CONFLICT(Remedy.RETRY_OR_DISABLE),
        /** The target's table or column is missing, or is of a shape that cannot take the change. */
        SCHEMA_MISMATCH(Remedy.RETRY_OR_DISABLE),
        /** A role lacks a privilege. */
        PERMISSION(Remedy.RETRY_OR_DISABLE),
        /** The target has no room left. */
        TARGET_FULL(Remedy.RECONNECT),
        /**
         * There is no room for a streamed transaction's spool: the disk is full, or {@code spool.max_bytes} is reached. Retried with
         * waits, never disabled: what is committed is safe, the publisher sends the transaction again, and it may find room then.
         */
        SPOOL_FULL(Remedy.RECONNECT),
        /**
         * A spool file cannot be created, written or read, or is not what was written. Retried with waits: nothing is wrong with the
         * data, and the publisher sends again what the file held.
         */
        SPOOL_FAILED(Remedy.RECONNECT),
        /** The slot is missing, of the wrong kind, or invalidated: changes are lost. */
        SLOT_LOST(Remedy.STOP),
        /** The target stands behind what the slot confirmed, or is another database than recorded. */
        STATE_MISMATCH(Remedy.STOP),
        /** A server, publication or target is not as the subscription needs it. */
        PRECONDITION(Remedy.STOP),
        /** A key or value of the configuration, or a command's argument. */
        CONFIGURATION(Remedy.REFUSE),
        /** A defect of pgapply. */
        INTERNAL(Remedy.RETRY_OR_DISABLE);

        private final Remedy remedy;

        Kind(Remedy remedy) {
            this.remedy = remedy;
        }

        public Remedy remedy() {
            return remedy;
        }
    }

    private final Kind kind;
    private final @Nullable String hint;
    private final @Nullable String sqlState;
    private final @Nullable String column;
    private final @Nullable Context context;

    /**
     * Where in the stream it went wrong; added once, by the worker's loop.
     *
     * @param sentence PostgreSQL's own: {@code processing remote data for replication origin … finished at 0/14C0378}
     * @param relation schema and name of the target relation
     * @param finishLsn what an operator would skip
     */
    public record Context(
            String sentence,
            @Nullable String relation,
            @Nullable Xid xid,
            @Nullable Lsn finishLsn) {}

    public ApplyException(Kind kind, String message) {
        this(kind, message, null, null, null, null);
    }

    public ApplyException(Kind kind, String message, @Nullable Throwable cause) {
        this(kind, message, null, null, null, cause);
    }

    /**
     * @param hint what a person can do about it, or null
     * @param sqlState the server's SQLSTATE, or null if no server said it
     * @param column the column that the error is about, where the server named one
     */
    public ApplyException(
            Kind kind,
            String message,
            @Nullable String hint,
            @Nullable String sqlState,
            @Nullable String column,
            @Nullable Throwable cause) {
        this(kind, message, hint, sqlState, column, null, cause);
    }

    private ApplyException(
            Kind kind,
            String message,
            @Nullable String hint,
            @Nullable String sqlState,
            @Nullable String column,
            @Nullable Context context,
            @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.hint = hint;
        this.sqlState = sqlState;
        this.column = column;
        this.context = context;
    }

    /** The same failure, saying where it happened; a failure that says so already stays as it is. */
    public ApplyException in(Context where) {
        if (context != null) {
            return this;
        }
        return new ApplyException(
                kind, getMessage(), hint, sqlState, column, where, getCause() == null ? this : getCause());
    }

    public static ApplyException withHint(Kind kind, String message, String hint) {
        return new ApplyException(kind, message, hint, null, null, null);
    }

    public Kind kind() {
        return kind;
    }

    /** Where in the stream it went wrong, or null if it has to do with no change. */
    public @Nullable Context context() {
        return context;
    }

    /** What a person can do about it, or null. */
    public @Nullable String hint() {
        return hint;
    }

    /** The server's SQLSTATE, or null if no server said it. */
    public @Nullable String sqlState() {
        return sqlState;
    }

    /** The column that the error is about, where the server named one. */
    public @Nullable String column() {
        return column;
    }

    @Override
    public String getMessage() {
        String message = super.getMessage();
        return message == null ? "" : message;
    }
}
