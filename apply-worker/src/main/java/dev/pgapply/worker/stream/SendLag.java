package dev.pgapply.worker.stream;

import dev.pgapply.core.pgoutput.MessageType;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * How long after its commit the walsender sent the newest ordinary transaction. Both times are the publisher's own, so nobody's clocks
 * have to agree. Streamed transactions are sent before their commit and change nothing. Owned by the receiver's thread.
 */
final class SendLag {

    /** Begin: type byte, int64 final LSN, int64 commit time, int32 xid (protocol-logicalrep-message-formats.html). */
    private static final int BEGIN_LENGTH = 21;

    private static final int COMMIT_TIME_OFFSET = 9;

    private boolean inTransaction;
    private long commitTimeMicros;
    private long lagMicros;

    /** Called with each message, in order. */
    void sent(XLogData data) {
        byte type = data.frame()[data.messageOffset()];
        if (type == MessageType.BEGIN.code() && data.messageLength() >= BEGIN_LENGTH) {
            commitTimeMicros = FrameDecoder.int64(data.frame(), data.messageOffset() + COMMIT_TIME_OFFSET);
            inTransaction = true;
        }
        if (inTransaction) {
            lagMicros = data.sendTimeMicros() - commitTimeMicros;
            inTransaction = type != MessageType.COMMIT.code();
        }
    }

    /** Zero before the first transaction. */
    Duration lag() {
        return Duration.of(Math.max(0, lagMicros), ChronoUnit.MICROS);
    }
}
