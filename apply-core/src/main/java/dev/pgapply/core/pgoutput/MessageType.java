package dev.pgapply.core.pgoutput;

import org.jspecify.annotations.Nullable;

/** The messages of pgoutput, all protocol versions, by their type byte (logicalproto.h, LogicalRepMsgType). */
public enum MessageType {
    BEGIN('B', "BEGIN"),
    COMMIT('C', "COMMIT"),
    ORIGIN('O', "ORIGIN"),
    INSERT('I', "INSERT"),
    UPDATE('U', "UPDATE"),
    DELETE('D', "DELETE"),
    TRUNCATE('T', "TRUNCATE"),
    RELATION('R', "RELATION"),
    TYPE('Y', "TYPE"),
    MESSAGE('M', "MESSAGE"),
    BEGIN_PREPARE('b', "BEGIN PREPARE"),
    PREPARE('P', "PREPARE"),
    COMMIT_PREPARED('K', "COMMIT PREPARED"),
    ROLLBACK_PREPARED('r', "ROLLBACK PREPARED"),
    STREAM_START('S', "STREAM START"),
    STREAM_STOP('E', "STREAM STOP"),
    STREAM_COMMIT('c', "STREAM COMMIT"),
    STREAM_ABORT('A', "STREAM ABORT"),
    STREAM_PREPARE('p', "STREAM PREPARE");

    private static final MessageType[] BY_BYTE = new MessageType[128];

    static {
        for (MessageType type : values()) {
            BY_BYTE[type.code] = type;
        }
    }

    private final char code;
    private final String label;

    MessageType(char code, String label) {
        this.code = code;
        this.label = label;
    }

    /** The type byte on the wire. */
    public char code() {
        return code;
    }

    /** As PostgreSQL's error contexts name it (proto.c, logicalrep_message_type). */
    public String label() {
        return label;
    }

    /** Whether a message of the type carries a (sub)transaction's xid behind its type byte when it comes in a stream block. */
    public boolean carriesXid() {
        return switch (this) {
            case INSERT, UPDATE, DELETE, TRUNCATE, RELATION, TYPE, MESSAGE -> true;
            case BEGIN,
                    COMMIT,
                    ORIGIN,
                    BEGIN_PREPARE,
                    PREPARE,
                    COMMIT_PREPARED,
                    ROLLBACK_PREPARED,
                    STREAM_START,
                    STREAM_STOP,
                    STREAM_COMMIT,
                    STREAM_ABORT,
                    STREAM_PREPARE -> false;
        };
    }

    /** The type of a byte, or null if no message begins with it. */
    public static @Nullable MessageType of(byte code) {
        return code < 0 ? null : BY_BYTE[code];
    }
}
