package dev.pgapply.worker.apply;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.relation.RelationMap;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.RelationOverlay;
import dev.pgapply.core.relation.Relations;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.stream.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The remote relations in force, each opened on the target when its first change comes (relation.c, logicalrep_rel_open), and opened
 * anew when its description has become old: nothing tells a session outside the database of the target's DDL. While a streamed
 * transaction is replayed, its overlay stands before them. Owned by the leader apply worker's thread.
 */
public final class OpenRelations {

    /** How long a target table's description is trusted. */
    private static final long DESCRIPTION_AGE_NANOS = Duration.ofSeconds(3).toNanos();

    private final RelationMap map = new RelationMap();
    private final Map<Oid, Long> describedAt = new HashMap<>();

    /** The overlay of the streamed transaction being replayed, and when its own relations were described. */
    private @Nullable RelationOverlay replayed;

    private final Map<Oid, Long> ownDescribedAt = new HashMap<>();

    private final Target target;
    private final Ticker ticker;
    private final CreateTables createTables;
    private final Consumer<RelationMapEntry> opened;
    private long now;

    /** For a target that has the published tables. */
    public OpenRelations(Target target, Ticker ticker, Consumer<RelationMapEntry> opened) {
        this(target, CreateTables.NONE, ticker, opened);
    }

    /** @param opened is told of each entry before its first change is applied, and may refuse it by throwing */
    public OpenRelations(Target target, CreateTables createTables, Ticker ticker, Consumer<RelationMapEntry> opened) {
        this.target = target;
        this.createTables = createTables;
        this.ticker = ticker;
        this.opened = opened;
        this.now = ticker.nanos();
    }

    /** Looks at the clock, once for many changes: a description is old or not for all of them. */
    public void tick() {
        now = ticker.nanos();
    }

    /** An overlay for a streamed transaction that begins. */
    RelationOverlay overlay() {
        return new RelationOverlay(map);
    }

    /** From now on the overlay's relations are meant. */
    void beginReplay(RelationOverlay overlay) {
        replayed = overlay;
        ownDescribedAt.clear();
    }

    void endReplay() {
        replayed = null;
    }

    private Relations relations() {
        RelationOverlay overlay = replayed;
        return overlay == null ? map : overlay;
    }

    boolean willReplace(Relation relation) {
        return relations().willReplace(relation);
    }

    void put(Relation relation) {
        relations().put(relation);
    }

    QualifiedName name(Oid oid) {
        return remote(oid).name();
    }

    /** The relation that counts for the next change. */
    Relation remote(Oid oid) {
        return relations().remote(oid);
    }

    /**
     * The open entry. Where the target's table has changed it is another object than before, and what was collected for the old one
     * belongs into another batch.
     */
    RelationMapEntry open(Oid oid) {
        RelationOverlay overlay = replayed;
        Map<Oid, Long> described = overlay != null && overlay.isOwn(oid) ? ownDescribedAt : describedAt;
        Relations relations = relations();
        if (isOld(described.get(oid))) {
            relations.invalidateTarget(oid);
        }
        RelationMapEntry known = relations.entry(oid);
        if (known != null) {
            return known;
        }
        RelationMapEntry entry = relations.open(oid, target::describe);
        opened.accept(entry);
        described.put(oid, now);
        return entry;
    }

    /**
     * A change came of a table that is not part of the subscription, and is passed by. worker.c opens the relation before it looks at
     * its state, so that a missing table stops even where it is not subscribed to; but one that a refresh would create may be missing.
     */
    void passBy(Oid oid) {
        if (createTables == CreateTables.NONE) {
            RelationMapEntry unused = open(oid);
        }
    }

    private boolean isOld(@Nullable Long described) {
        return described == null || now - described >= DESCRIPTION_AGE_NANOS;
    }
}
