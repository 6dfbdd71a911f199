package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;

/**
 * Begins an ordinary transaction; sent only when it has committed.
 *
 * @param finalLsn the commit record's position, equal to the Commit message's commit_lsn
 */
public record Begin(Lsn finalLsn, Instant commitTime, Xid xid) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.BEGIN;
    }
}
