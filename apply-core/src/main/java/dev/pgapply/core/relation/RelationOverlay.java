package dev.pgapply.core.relation;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The relations of one streamed transaction, over those in force for all. Owned by the leader apply worker's thread.
 *
 * <p>A stream block may come of a transaction that has altered a table and not committed: what it says of a relation must not describe
 * another transaction's rows. The publisher keeps book in the same way (pgoutput.c, streamed_txns, cleanup_rel_sync_cache), and the
 * two sides of this class follow it:
 *
 * <ul>
 *   <li><b>As blocks arrive</b>, {@link #announce} notes each relation. A STREAM ABORT of a subtransaction makes the publisher forget
 *       that it sent any of them in this transaction: {@link #forget}. When the transaction commits, those announced since then count
 *       as known to everybody, and will not be sent again: {@link #merge} puts them in force, unless the one in force came later. A
 *       transaction that is aborted just lets its overlay go.
 *   <li><b>As changes are applied</b>, at the commit, {@link #put} follows the Relation messages in the order they were spooled. A
 *       relation that is equal to the one in force shares its entry, so that batches see one relation, not two; one that differs has
 *       an entry of its own.
 * </ul>
 */
public final class RelationOverlay implements Relations {

    private final RelationMap inForce;

    /** The newest announcement of each relation since the publisher last forgot. */
    private final Map<Oid, Announced> announced = new LinkedHashMap<>();

    /** Those that differ from what is in force, as of the change being applied. */
    private final RelationMap own = new RelationMap();

    private boolean differed;

    /** @param order when it came, counted by the map in force */
    private record Announced(Relation relation, long order) {}

    public RelationOverlay(RelationMap inForce) {
        this.inForce = inForce;
    }

    /** A Relation message came in a stream block of the transaction. */
    public void announce(Relation relation) {
        announced.put(relation.oid(), new Announced(relation, inForce.nextOrder()));
    }

    /** A subtransaction was aborted: the publisher will announce again what it needs. */
    public void forget() {
        announced.clear();
    }

    /**
     * The transaction has committed: what was announced counts for all, where nothing newer is in force.
     *
     * @return whether a relation in force was replaced by a different one
     */
    public boolean merge() {
        boolean replaced = false;
        for (Announced newest : announced.values()) {
            replaced |= inForce.putIfNewer(newest.relation(), newest.order());
        }
        announced.clear();
        return replaced;
    }

    @Override
    public boolean willReplace(Relation relation) {
        Relation visible = find(relation.oid());
        return visible != null && !visible.equals(RelationMap.outsideStreamBlock(relation));
    }

    @Override
    public void put(Relation relation) {
        Relation remote = RelationMap.outsideStreamBlock(relation);
        if (remote.equals(inForce.find(remote.oid()))) {
            own.remove(remote.oid());
            return;
        }
        own.put(remote);
        differed = true;
    }

    /**
     * Whether a change may have been collected for a relation that differs from what was in force: what comes after the transaction
     * belongs into another batch then.
     */
    public boolean differed() {
        return differed;
    }

    @Override
    public Relation remote(Oid oid) {
        return mapOf(oid).remote(oid);
    }

    private @Nullable Relation find(Oid oid) {
        return mapOf(oid).find(oid);
    }

    /** Whether the relation differs from what is in force, and so has an entry of its own. */
    public boolean isOwn(Oid oid) {
        return own.find(oid) != null;
    }

    private RelationMap mapOf(Oid oid) {
        return isOwn(oid) ? own : inForce;
    }

    @Override
    public @Nullable RelationMapEntry entry(Oid oid) {
        return mapOf(oid).entry(oid);
    }

    @Override
    public RelationMapEntry open(Oid oid, Function<QualifiedName, @Nullable TargetTable> describe) {
        return mapOf(oid).open(oid, describe);
    }

    @Override
    public void invalidateTarget(Oid oid) {
        mapOf(oid).invalidateTarget(oid);
    }
}
