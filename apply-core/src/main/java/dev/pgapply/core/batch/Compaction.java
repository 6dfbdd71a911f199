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
 * Finds the net effect of a batch: the sets that come to the same as its changes one by one. Used once, by the thread that seals the
 * batch.
 *
 * <h2>What has to hold</h2>
 *
 * For every input that both paths accept, the sets leave the same rows as the single changes in their order, and report the same
 * conflicts; also on a target that misses rows or has others. Where that cannot be promised beforehand, there is no plan
 * ({@link #plan} returns null). Where it depends on the target's rows, the plan says what must be found or must be absent
 * ({@link SetPlan.Expectation}); if the target disagrees, the batch is undone and replayed exactly. An error of the target, whatever
 * it is, has the same consequence. So reordering may cost a replay, but it must never silently give another result.
 *
 * <h2>Why reordering gives no other result</h2>
 *
 * <ul>
 *   <li><b>Nobody watches.</b> A table with triggers, rules or foreign-key actions that fire in this session has no plan. Without
 *       them a change reads and writes one row of one table, and what happens to one row does not depend on any other row, except for
 *       constraints over several rows.
 *   <li><b>Constraints over several rows</b> (unique, exclusion) can refuse a set that the single changes would pass: an error, hence
 *       a replay. The other way round, a set may pass where the single changes would be refused in between (a value used by a row
 *       that a later change deletes; a CHECK that only an overwritten value violates). Then the rows are those of the publisher, and
 *       the exact path does not accept the input at all.
 *   <li><b>Tables are independent</b> of each other for the same reason. A TRUNCATE takes tables as wholes: it ends a phase, and
 *       nothing moves across it. (Rows of one partitioned table that come under two names, root and leaf, would not be independent;
 *       the publisher sends a row's changes under one of them.)
 *   <li><b>Different keys are independent</b>, and rows of the same key keep their order, within a stage and from stage to stage:
 *       {@link KeyedCompaction}. Which key a change has is decided by bytes, so only types are admitted whose equality is that of
 *       their bytes, the same type and modifier on both sides, NOT NULL and in one format; other tables keep the order of all
 *       changes: {@link OrderedCompaction}.
 *   <li><b>Rows without a key</b> are a multiset: {@link FullRowCompaction}.
 *   <li><b>Columns of the target's own</b> get their default once a row that stays is inserted, in the order of the inserts; an insert
 *       that a later delete undoes takes no number from a sequence. A row that is deleted and inserted again is deleted and inserted,
 *       never updated, since its own columns begin anew.
 * </ul>
 *
 * A table that is known by two different descriptions within a batch (it was altered, or two remote relations have its name) has no
 * plan: tuples of different shapes cannot be merged.
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
        if (!tuple.hasUnchanged()) {
            return false;
        }
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
