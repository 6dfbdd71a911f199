package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.Xid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Empties relations, all by one command.
 *
 * @param xid the (sub)transaction, inside a stream block only
 */
public record Truncate(@Nullable Xid xid, boolean cascade, boolean restartIdentity, List<Oid> relations)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.TRUNCATE;
    }
}
