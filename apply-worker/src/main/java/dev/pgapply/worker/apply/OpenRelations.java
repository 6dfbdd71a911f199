package dev.pgapply.worker.apply;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.relation.RelationMap;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.stream.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The remote relations in force, each opened on the target when its first change comes (relation.c, logicalrep_rel_open), and opened
 * anew when its description has become old: nothing tells a session outside the database of the target's DDL. Owned by the leader
 * apply worker's thread.
 */
public final class OpenRelations {

    /** How long a target table's description is trusted. */
    private static final long DESCRIPTION_AGE_NANOS = Duration.ofSeconds(3).toNanos();

    private final RelationMap map = new RelationMap();
    private final Map<Oid, Long> describedAt = new HashMap<>();
    private final Target target;
    private final Ticker ticker;
    private long now;

    public OpenRelations(Target target, Ticker ticker) {
        this.target = target;
        this.ticker = ticker;
        this.now = ticker.nanos();
    }

    /** Looks at the clock, once for many changes: a description is old or not for all of them. */
    public void tick() {
        now = ticker.nanos();
    }

    boolean willReplace(Relation relation) {
        return map.willReplace(relation);
    }

    void put(Relation relation) {
        map.put(relation);
    }

    QualifiedName name(Oid oid) {
        return map.remote(oid).name();
    }

    /**
     * The open entry. Where the target's table has changed it is another object than before, and what was collected for the old one
     * belongs into another batch.
     */
    RelationMapEntry open(Oid oid) {
        Long described = describedAt.get(oid);
        if (described == null || now - described >= DESCRIPTION_AGE_NANOS) {
            map.invalidateTarget(oid);
        }
        RelationMapEntry known = map.entry(oid);
        if (known != null) {
            return known;
        }
        RelationMapEntry entry = map.open(oid, target::describe);
        describedAt.put(oid, now);
        return entry;
    }
}
