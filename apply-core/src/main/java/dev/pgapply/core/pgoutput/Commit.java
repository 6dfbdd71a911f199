package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import java.time.Instant;

/**
 * Ends an ordinary transaction.
 *
 * @param endLsn the position after the commit record: what progress is measured by
 */
public record Commit(Lsn commitLsn, Lsn endLsn, Instant commitTime) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.COMMIT;
    }
}
