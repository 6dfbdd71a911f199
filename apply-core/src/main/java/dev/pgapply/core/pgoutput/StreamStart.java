package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Xid;

/**
 * Begins a stream block of an in-progress transaction.
 *
 * @param xid the toplevel transaction
 */
public record StreamStart(Xid xid, boolean firstSegment) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.STREAM_START;
    }
}
