package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;
import java.nio.ByteBuffer;

/** Frames as a walsender sends them. */
final class Frames {

    private Frames() {}

    /** An XLogData payload with a message of that many bytes, all {@code B}. */
    static byte[] xlogData(long lsn, int messageLength) {
        ByteBuffer buffer = ByteBuffer.allocate(25 + messageLength)
                .put((byte) 'w')
                .putLong(lsn)
                .putLong(lsn)
                .putLong(1_000_000);
        while (buffer.hasRemaining()) {
            buffer.put((byte) 'B');
        }
        return buffer.array();
    }

    static byte[] keepalive(long lsn, boolean replyRequested) {
        return ByteBuffer.allocate(18)
                .put((byte) 'k')
                .putLong(lsn)
                .putLong(2_000_000)
                .put((byte) (replyRequested ? 1 : 0))
                .array();
    }

    static FeedbackPositions positions(long write, long flush, long apply) {
        return new FeedbackPositions(new Lsn(write), new Lsn(flush), new Lsn(apply));
    }

    /** What a status update says. */
    record Status(FeedbackPositions positions, boolean replyRequested) {

        static Status of(byte[] payload) {
            ByteBuffer buffer = ByteBuffer.wrap(payload);
            if (payload.length != 34 || buffer.get() != 'r') {
                throw new IllegalArgumentException("no status update");
            }
            FeedbackPositions positions = Frames.positions(buffer.getLong(), buffer.getLong(), buffer.getLong());
            buffer.getLong();
            return new Status(positions, buffer.get() != 0);
        }
    }
}
