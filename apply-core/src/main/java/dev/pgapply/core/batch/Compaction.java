package dev.pgapply.core.batch;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.SearchKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the net effect of a batch. Used once, by the thread that seals the batch.
 */
final class Compaction {

    private final List<SetPlan.Phase> phases = new ArrayList<>();
    private final Map<QualifiedName, RelationMapEntry> entries = new HashMap<>();
    private Map<QualifiedName, RelationCompaction> relations = new LinkedHashMap<>();

    /** The relation of the change before: changes come in runs. */
    private @Nullable RelationMapEntry last;

    private @Nullable RelationCompaction lastCompaction;

    private Compaction() {}

    /** The net effect of the transactions' steps; null if they have to be applied one by one. */
    static @Nullable SetPlan plan(List<TransactionSlice> transactions) {
        Compaction compaction = new Compaction();
        for (TransactionSlice transaction : transactions) {
            for (Step step : transaction.steps()) {
                if (!compaction.add(step)) {
                    return null;
                }
            }
        }
        compaction.endPhase();
        return new SetPlan(compaction.phases);
    }

    private boolean add(Step step) {
        if (step instanceof Change change) {
            RelationCompaction compaction = of(change.relation());
            return compaction != null && compaction.add(change);
        }
        Truncation truncation = (Truncation) step;
        for (RelationMapEntry relation : truncation.relations()) {
            if (!admits(relation)) {
                return false;
            }
        }
        endPhase();
        phases.add(new SetPlan.TruncatePhase(truncation));
        return true;
    }

    private @Nullable RelationCompaction of(RelationMapEntry relation) {
        RelationCompaction compaction = lastCompaction;
        if (compaction != null && relation.equals(last)) {
            return compaction;
        }
        if (!admits(relation)) {
            return null;
        }
        compaction = relations.get(relation.target().name());
        if (compaction == null) {
            compaction = compactionFor(relation);
            relations.put(relation.target().name(), compaction);
        }
        last = relation;
        lastCompaction = compaction;
        return compaction;
    }

    /**
     * Whether a set may stand for single changes of this relation: nothing on the target watches them, and the batch knows the table by
     * one description only.
     */
    private boolean admits(RelationMapEntry relation) {
        if (relation.target().triggers().any()) {
            return false;
        }
        RelationMapEntry known = entries.putIfAbsent(relation.target().name(), relation);
        return known == null || known.equals(relation);
    }

    private static RelationCompaction compactionFor(RelationMapEntry relation) {
        SearchKey key = relation.key();
        return switch (key.kind()) {
            case UNIQUE -> key.byteEquality() ? new KeyedCompaction(relation) : new OrderedCompaction(relation);
            case FULL_ROW -> new FullRowCompaction(relation);
            case NONE -> new OrderedCompaction(relation);
        };
    }

    private void endPhase() {
        if (!relations.isEmpty()) {
            phases.add(new SetPlan.RelationPhase(relations.values().stream()
                    .map(RelationCompaction::netEffect)
                    .toList()));
        }
        relations = new LinkedHashMap<>();
        last = null;
        lastCompaction = null;
    }

    /** Whether a column that is applied was not sent. */
    static boolean hasUnchanged(RelationMapEntry relation, Tuple tuple) {
        for (int column : relation.mappedColumns()) {
            if (tuple.isUnchanged(column)) {
                return true;
            }
        }
        return false;
    }

    static int[] columns(List<Integer> columns) {
        return columns.stream().mapToInt(Integer::intValue).toArray();
    }
}
