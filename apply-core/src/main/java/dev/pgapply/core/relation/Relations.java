package dev.pgapply.core.relation;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The remote relations that count for the next change, by the publisher's oid: those in force for all, or those of one streamed
 * transaction over them. Owned by the leader apply worker's thread.
 */
public interface Relations {

    /** Whether storing this relation would replace a different one that changes may already have been collected for. */
    boolean willReplace(Relation relation);

    /** Takes up a Relation message: it counts for the changes behind it. An equal one changes nothing. */
    void put(Relation relation);

    /**
     * The relation that counts for the next change.
     *
     * @throws ApplyException of kind PROTOCOL_VIOLATION if the publisher never described it
     */
    Relation remote(Oid oid);

    /** The open entry, or null if the relation is unknown, was never opened, or its target's description is no longer trusted. */
    @Nullable
    RelationMapEntry entry(Oid oid);

    /**
     * The open entry; opens it first where need be.
     *
     * @param describe asks the target for the table of that name, null if there is none
     * @throws ApplyException of kind SCHEMA_MISMATCH or PERMISSION if the target cannot take the relation's changes, or
     *     PROTOCOL_VIOLATION if the publisher never described it
     */
    RelationMapEntry open(Oid oid, Function<QualifiedName, @Nullable TargetTable> describe);

    /** The target's description of this relation is no longer trusted; the remote part stays. */
    void invalidateTarget(Oid oid);
}
