package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * A changed row.
 *
 * @param xid the (sub)transaction, inside a stream block only
 * @param oldTuple null if the replica identity did not change
 */
public record Update(
        @Nullable Xid xid, Oid relation, @Nullable OldTuple oldTuple, Tuple newTuple) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.UPDATE;
    }
}
