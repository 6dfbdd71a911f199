package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;

/**
 * A {@code w} frame: one pgoutput message.
 *
 * @param startLsn for logical replication the message's own position, as {@code endLsn}
 * @param frame the whole payload; owned by this record and never changed
 * @param messageOffset where in {@code frame} the message begins
 * @param messageLength the message's bytes, at least one
 */
public record XLogData(
        Lsn startLsn, Lsn endLsn, long sendTimeMicros, byte[] frame, int messageOffset, int messageLength)
        implements Frame {

    @Override
    public int wireBytes() {
        return frame.length;
    }
}
