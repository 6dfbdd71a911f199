package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/** Commits a streamed transaction. */
public record StreamCommit(Xid xid, Lsn commitLsn, Lsn endLsn, Instant commitTime) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.STREAM_COMMIT;
    }
}
