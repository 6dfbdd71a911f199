package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * A deleted row.
 *
 * @param xid the (sub)transaction, inside a stream block only
 */
public record Delete(@Nullable Xid xid, Oid relation, OldTuple oldTuple) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.DELETE;
    }
}
