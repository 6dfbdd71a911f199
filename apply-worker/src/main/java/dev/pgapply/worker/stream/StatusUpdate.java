package dev.pgapply.worker.stream;

import java.nio.ByteBuffer;

/**
 * Encodes the standby status update (worker.c, send_feedback).
 *
 * <pre>
 * 'r' int64 write LSN, int64 flush LSN, int64 apply LSN, int64 time, byte reply requested
 * </pre>
 */
final class StatusUpdate {

    private static final int LENGTH = 34;

    private StatusUpdate() {}

    /** @param timeMicros the receiver's clock, microseconds since 2000-01-01 UTC */
    static byte[] encode(FeedbackPositions positions, long timeMicros, boolean replyRequested) {
        return ByteBuffer.allocate(LENGTH)
                .put((byte) 'r')
                .putLong(positions.write().value())
                .putLong(positions.flush().value())
                .putLong(positions.apply().value())
                .putLong(timeMicros)
                .put((byte) (replyRequested ? 1 : 0))
                .array();
    }
}
