package dev.pgapply.core.batch;

import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;

/** placeholder */
final class FullRowCompaction implements RelationCompaction {

    private final RelationMapEntry relation;

    FullRowCompaction(RelationMapEntry relation) {
        this.relation = relation;
    }

    @Override
    public boolean add(Change change) {
        return false;
    }

    @Override
    public SetPlan.RelationChanges netEffect() {
        return new SetPlan.RelationChanges(relation, List.of());
    }
}
