package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;

/**
 * A {@code k} frame: the walsender has read its WAL up to {@code endLsn} and everything before it has been sent.
 *
 * @param replyRequested the receiver has answered already, with the positions of that moment; the leader may hurry to move them
 */
public record Keepalive(Lsn endLsn, long sendTimeMicros, boolean replyRequested) implements Frame {

    static final int LENGTH = 18;

    @Override
    public int wireBytes() {
        return LENGTH;
    }
}
