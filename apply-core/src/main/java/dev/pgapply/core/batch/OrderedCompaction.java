package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.ArrayList;
import java.util.List;

/**
 * A relation whose rows cannot be told apart by bytes, or not at all. Inserts that come before anything else are a set, since no row
 * has to be found for them; from the first other change on, everything is applied in its order.
 */
final class OrderedCompaction implements RelationCompaction {

    private final RelationMapEntry relation;
    private final List<Tuple> inserts = new ArrayList<>();
    private final List<Change> inOrder = new ArrayList<>();

    OrderedCompaction(RelationMapEntry relation) {
        this.relation = relation;
    }

    @Override
    public boolean add(Change change) {
        Tuple newTuple = change.newTuple();
        boolean leading = change.kind() == Change.Kind.INSERT && inOrder.isEmpty();
        if (leading && newTuple != null && !Compaction.hasUnchanged(relation, newTuple)) {
            inserts.add(newTuple);
        } else {
            inOrder.add(change);
        }
        return true;
    }

    @Override
    public SetPlan.RelationChanges netEffect() {
        return new SetPlan.RelationChanges(
                relation, List.of(new SetPlan.Stage(List.of(), List.of(), inserts, inOrder)));
    }
}
