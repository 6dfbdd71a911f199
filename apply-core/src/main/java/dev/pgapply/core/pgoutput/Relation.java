package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes a relation; comes before its first use and after every change of it.
 *
 * @param xid the (sub)transaction, inside a stream block only
 */
public record Relation(
        @Nullable Xid xid, Oid oid, QualifiedName name, ReplicaIdentity replicaIdentity, List<Column> columns)
        implements PgOutputMessage {

    /**
     * A published column.
     *
     * @param key whether it is part of the replica identity
     * @param typeModifier the publisher's atttypmod; informative, the target's own applies
     */
    public record Column(String name, boolean key, Oid type, int typeModifier) {}

    public Relation {
        columns = List.copyOf(columns);
    }

    @Override
    public MessageType type() {
        return MessageType.RELATION;
    }
}
