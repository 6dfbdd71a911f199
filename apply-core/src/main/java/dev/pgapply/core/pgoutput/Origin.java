package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;

/** Names the replication origin that the transaction came from. It never carries an xid. */
public record Origin(Lsn originLsn, String name) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.ORIGIN;
    }
}
