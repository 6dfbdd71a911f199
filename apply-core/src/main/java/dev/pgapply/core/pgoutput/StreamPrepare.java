package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/** Ends a streamed transaction with PREPARE. */
public record StreamPrepare(Lsn prepareLsn, Lsn endLsn, Instant prepareTime, Xid xid, String gid)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.STREAM_PREPARE;
    }
}
