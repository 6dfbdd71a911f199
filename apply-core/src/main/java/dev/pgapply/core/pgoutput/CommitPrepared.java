package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/** Commits a prepared transaction. */
public record CommitPrepared(Lsn commitLsn, Lsn endLsn, Instant commitTime, Xid xid, String gid)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.COMMIT_PREPARED;
    }
}
