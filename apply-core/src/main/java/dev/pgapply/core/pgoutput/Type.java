package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.Xid;
import org.jspecify.annotations.Nullable;

/**
 * Names a type that is not built in; for a domain, the base type's name under the domain's oid.
 *
 * @param xid the (sub)transaction, inside a stream block only
 */
public record Type(@Nullable Xid xid, Oid oid, String schema, String name) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.TYPE;
    }
}
