package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;

/**
 * Writes the few messages that a spool needs and that did not come in the form in which it keeps them, as outside of stream blocks: what
 * {@link PgOutputDecoder} reads as an equal message. Stateless.
 */
public final class PgOutputEncoder {

    private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private PgOutputEncoder(MessageType type) {
        out.write(type.code());
    }

    public static byte[] begin(Begin begin) {
        return new PgOutputEncoder(MessageType.BEGIN)
                .int64(begin.finalLsn().value())
                .int64(micros(begin.commitTime()))
                .int32(begin.xid().value())
                .bytes();
    }

    private static long micros(Instant time) {
        Duration since = Duration.between(POSTGRES_EPOCH, time);
        return since.getSeconds() * 1_000_000L + since.getNano() / 1_000;
    }

    public static byte[] relation(Relation relation) {
        PgOutputEncoder message = new PgOutputEncoder(MessageType.RELATION)
                .int32(relation.oid().value())
                .string(relation.name().schema())
                .string(relation.name().name())
                .int8(relation.replicaIdentity().code())
                .int16(relation.columns().size());
        for (Relation.Column column : relation.columns()) {
            message.int8(column.key() ? 1 : 0)
                    .string(column.name())
                    .int32(column.type().value())
                    .int32(column.typeModifier());
        }
        return message.bytes();
    }

    /** The part of a TRUNCATE that concerns one of its relations. */
    public static byte[] truncate(Truncate truncate, Oid relation) {
        return new PgOutputEncoder(MessageType.TRUNCATE)
                .int32(1)
                .int8((truncate.cascade() ? 1 : 0) | (truncate.restartIdentity() ? 2 : 0))
                .int32(relation.value())
                .bytes();
    }

    private PgOutputEncoder int8(int value) {
        out.write(value);
        return this;
    }

    private PgOutputEncoder int16(int value) {
        return int8(value >>> 8).int8(value);
    }

    private PgOutputEncoder int32(int value) {
        return int16(value >>> 16).int16(value);
    }

    private PgOutputEncoder int64(long value) {
        return int32((int) (value >>> 32)).int32((int) value);
    }

    private PgOutputEncoder string(String value) {
        out.writeBytes(value.getBytes(StandardCharsets.UTF_8));
        return int8(0);
    }

    private byte[] bytes() {
        return out.toByteArray();
    }
}
