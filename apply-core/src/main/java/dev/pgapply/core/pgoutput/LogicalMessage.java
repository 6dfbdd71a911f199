package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * A message written by pg_logical_emit_message.
 *
 * @param xid the (sub)transaction, inside a stream block only
 * @param content owned by this record
 */
public record LogicalMessage(@Nullable Xid xid, boolean transactional, Lsn lsn, String prefix, byte[] content)
        implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.MESSAGE;
    }
}
