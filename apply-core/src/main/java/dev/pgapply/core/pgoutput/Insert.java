package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * A new row.
 *
 * @param xid the (sub)transaction, inside a stream block only
 */
public record Insert(@Nullable Xid xid, Oid relation, Tuple newTuple) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.INSERT;
    }
}
