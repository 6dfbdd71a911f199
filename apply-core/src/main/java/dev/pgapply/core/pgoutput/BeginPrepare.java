package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/** Begins a transaction that was prepared. */
public record BeginPrepare(Lsn prepareLsn, Lsn endLsn, Instant prepareTime, Xid xid, String gid)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.BEGIN_PREPARE;
    }
}
