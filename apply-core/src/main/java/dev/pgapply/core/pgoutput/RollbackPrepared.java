package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/** Rolls a prepared transaction back. */
public record RollbackPrepared(
        Lsn prepareEndLsn, Lsn rollbackEndLsn, Instant prepareTime, Instant rollbackTime, Xid xid, String gid)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.ROLLBACK_PREPARED;
    }
}
