package dev.pgapply.worker.stream;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Decodes the walsender's outer frames (worker.c, LogicalRepApplyLoop). Pure.
 *
 * <pre>
 * 'w' int64 start LSN, int64 end LSN, int64 send time, message
 * 'k' int64 end LSN, int64 send time, byte reply requested
 * </pre>
 */
final class FrameDecoder {

    private static final int XLOG_DATA_HEADER = 25;
    private static final VarHandle INT64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");

    private FrameDecoder() {}

    /** Takes the payload over. */
    static Frame decode(byte[] payload) {
        if (payload.length == 0) {
            throw new ApplyException(Kind.PROTOCOL_VIOLATION, "empty frame from the walsender");
        }
        byte type = payload[0];
        if (type == 'w') {
            // A message has at least its type byte.
            if (payload.length <= XLOG_DATA_HEADER) {
                throw tooShort("XLogData", payload.length, XLOG_DATA_HEADER + 1);
            }
            Lsn start = lsn(payload, 1);
            return new XLogData(
                    start,
                    int64(payload, 9) == start.value() ? start : lsn(payload, 9),
                    int64(payload, 17),
                    payload,
                    XLOG_DATA_HEADER,
                    payload.length - XLOG_DATA_HEADER);
        }
        if (type == 'k') {
            if (payload.length < Keepalive.LENGTH) {
                throw tooShort("keepalive", payload.length, Keepalive.LENGTH);
            }
            return new Keepalive(lsn(payload, 1), int64(payload, 9), payload[17] != 0);
        }
        throw new ApplyException(
                Kind.PROTOCOL_VIOLATION, "unexpected frame type " + (type & 0xFF) + " from the walsender");
    }

    /** A send time as wall time. */
    static Instant toInstant(long sendTimeMicros) {
        return POSTGRES_EPOCH.plus(sendTimeMicros, ChronoUnit.MICROS);
    }

    /** Wall time as the protocol writes it: microseconds since 2000-01-01 UTC. */
    static long toMicros(Instant time) {
        return ChronoUnit.MICROS.between(POSTGRES_EPOCH, time);
    }

    private static Lsn lsn(byte[] payload, int offset) {
        return new Lsn(int64(payload, offset));
    }

    /** A big-endian integer, as all of the protocol's. */
    static long int64(byte[] payload, int offset) {
        return (long) INT64.get(payload, offset);
    }

    private static ApplyException tooShort(String what, int length, int expected) {
        return new ApplyException(
                Kind.PROTOCOL_VIOLATION,
                what + " frame of " + length + " bytes from the walsender, expected at least " + expected);
    }
}
