package dev.pgapply.core.relation;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The remote relations in force, by the publisher's oid, and those that are open on the target (relation.c, LogicalRepRelMap). Owned
 * by the leader apply worker's thread.
 *
 * <p>A Relation message only stores the remote part; the target is asked when the first change needs it. An entry stays the same
 * object for as long as neither side's description changes, so that a batch can tell by identity that nothing changed.
 */
public final class RelationMap implements Relations {

    private final Map<Oid, Slot> slots = new HashMap<>();

    /** Counts the Relation messages, so that two can be told apart by which came later. */
    private long lastOrder;

    /** What is known of one remote relation. */
    private static final class Slot {
        final Relation remote;
        /** The entry last opened; current only if the flag says so, else kept to recognise an unchanged description. */
        @Nullable
        RelationMapEntry entry;

        boolean open;

        /** When its last Relation message came. */
        long order;

        Slot(Relation remote) {
            this.remote = remote;
        }
    }

    @Override
    public boolean willReplace(Relation relation) {
        Slot slot = slots.get(relation.oid());
        return slot != null && !slot.remote.equals(outsideStreamBlock(relation));
    }

    /** Puts a relation in force. The publisher repeats itself after every invalidation. */
    @Override
    public void put(Relation relation) {
        put(relation, nextOrder());
    }

    /** Puts a relation in force and says whether it replaced a different one. */
    private boolean put(Relation relation, long order) {
        Relation remote = outsideStreamBlock(relation);
        Slot slot = slots.get(remote.oid());
        if (slot != null && slot.remote.equals(remote)) {
            slot.order = order;
            return false;
        }
        Slot replacement = new Slot(remote);
        replacement.order = order;
        return slots.put(remote.oid(), replacement) != null;
    }

    /** A number for a Relation message that has just come. */
    long nextOrder() {
        return ++lastOrder;
    }

    /** Puts a relation in force that came earlier, unless the one in force came after it; says whether it replaced another. */
    boolean putIfNewer(Relation relation, long order) {
        Slot slot = slots.get(relation.oid());
        return (slot == null || slot.order < order) && put(relation, order);
    }

    /** Which (sub)transaction announced a relation says nothing of what it is. */
    static Relation outsideStreamBlock(Relation relation) {
        if (relation.xid() == null) {
            return relation;
        }
        return new Relation(null, relation.oid(), relation.name(), relation.replicaIdentity(), relation.columns());
    }

    /** The relation in force, or null if the publisher never described it. */
    @Nullable
    Relation find(Oid oid) {
        Slot slot = slots.get(oid);
        return slot == null ? null : slot.remote;
    }

    void remove(Oid oid) {
        slots.remove(oid);
    }

    @Override
    public Relation remote(Oid oid) {
        return slot(oid).remote;
    }

    @Override
    public @Nullable RelationMapEntry entry(Oid oid) {
        Slot slot = slots.get(oid);
        return slot != null && slot.open ? slot.entry : null;
    }

    @Override
    public RelationMapEntry open(Oid oid, Function<QualifiedName, @Nullable TargetTable> describe) {
        Slot slot = slot(oid);
        RelationMapEntry known = slot.entry;
        if (slot.open && known != null) {
            return known;
        }
        QualifiedName name = slot.remote.name();
        RelationMapEntry entry = RelationMapping.map(slot.remote, describe.apply(name), name);
        slot.open = true;
        if (known != null && known.equals(entry)) {
            return known;
        }
        slot.entry = entry;
        return entry;
    }

    private Slot slot(Oid oid) {
        Slot slot = slots.get(oid);
        if (slot == null) {
            throw new ApplyException(Kind.PROTOCOL_VIOLATION, "no relation map entry for remote relation ID " + oid);
        }
        return slot;
    }

    @Override
    public void invalidateTarget(Oid oid) {
        Slot slot = slots.get(oid);
        if (slot != null) {
            slot.open = false;
        }
    }

    /** No description of the target is trusted any longer; the remote parts stay. */
    public void invalidateTargets() {
        slots.values().forEach(slot -> slot.open = false);
    }
}
