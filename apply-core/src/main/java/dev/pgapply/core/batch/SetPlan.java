package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.ArrayList;
import java.util.List;

/**
 * The net effect of a batch, set by set: what the fast path executes instead of the single changes. Phases run in order; within a
 * phase relations are independent of each other, within a relation stages run in order.
 */
public record SetPlan(List<Phase> phases) {

    public SetPlan {
        phases = List.copyOf(phases);
    }

    /**
     * The steps of a transaction as they are, in their order. It saves no work on the target, but what has no net effect can be sent with
     * fewer exchanges than its steps are; where the outcome of a step is not clear from that, the transaction is replayed exactly.
     */
    public static SetPlan inOrder(TransactionSlice transaction) {
        List<Phase> phases = new ArrayList<>();
        List<Change> run = new ArrayList<>();
        for (Step step : transaction.steps()) {
            if (step instanceof Change change) {
                // Another description of the same table is a run of its own.
                if (!run.isEmpty() && !run.get(0).relation().equals(change.relation())) {
                    endRun(run, phases);
                }
                run.add(change);
            } else {
                endRun(run, phases);
                phases.add(new TruncatePhase((Truncation) step));
            }
        }
        endRun(run, phases);
        return new SetPlan(phases);
    }

    private static void endRun(List<Change> run, List<Phase> phases) {
        if (!run.isEmpty()) {
            Stage stage = new Stage(List.of(), List.of(), List.of(), run);
            phases.add(new RelationPhase(List.of(new RelationChanges(run.get(0).relation(), List.of(stage)))));
            run.clear();
        }
    }

    /** Relations in first-touch order, or one TRUNCATE between them. */
    public sealed interface Phase permits RelationPhase, TruncatePhase {}

    public record RelationPhase(List<RelationChanges> relations) implements Phase {
        public RelationPhase {
            relations = List.copyOf(relations);
        }
    }

    public record TruncatePhase(Truncation truncation) implements Phase {}

    /** What a phase does to one relation. Rows found by FULL_ROW have one stage, with sets or with changes in order. */
    public record RelationChanges(RelationMapEntry relation, List<Stage> stages) {
        public RelationChanges {
            stages = List.copyOf(stages);
        }
    }

    /**
     * Sets that run in this order: deletes, updates, inserts, then single changes one after the other.
     *
     * @param inOrder changes that no set can hold: key changes, an INSERT with columns that were not sent, every change of a relation
     *     whose key's bytes do not decide equality, from the first that is no INSERT on; and all changes of {@link #inOrder}
     */
    public record Stage(List<Delete> deletes, List<UpdateSet> updates, List<Tuple> inserts, List<Change> inOrder) {
        public Stage {
            deletes = List.copyOf(deletes);
            updates = List.copyOf(updates);
            inserts = List.copyOf(inserts);
            inOrder = List.copyOf(inOrder);
        }
    }

    /**
     * What the target has to confirm of a row in a set.
     *
     * <ul>
     *   <li>MAY_BE_MISSING: the row stands for one change; if it is not found, that is one conflict and nothing more. Under FULL_ROW it
     *       may be looked for again at any time, since nothing else in the batch touches an equal row but deletes of it; under a key it
     *       may not, since the insert of the same key may follow.
     *   <li>MUST_BE_FOUND: the row stands for several changes, or (FULL_ROW) others of the batch touch rows equal to it; if it is not
     *       found at once, the batch is replayed exactly, so that each of them meets its own conflict. It is not looked for again: by
     *       then a row that the batch itself wrote could be taken for it.
     *   <li>MUST_BE_ABSENT: the row was inserted and deleted within the batch; if one is found, the insert would have been a conflict,
     *       and the batch is replayed exactly.
     * </ul>
     */
    public enum Expectation {
        MAY_BE_MISSING,
        MUST_BE_FOUND,
        MUST_BE_ABSENT
    }

    /** @param search the tuple whose key columns find the row */
    public record Delete(Tuple search, Expectation expectation) {}

    /**
     * Updates that set the same columns.
     *
     * @param setColumns the remote columns whose values are set, ascending: all that the publisher sent
     */
    public record UpdateSet(List<Integer> setColumns, List<Update> rows) {
        public UpdateSet {
            setColumns = List.copyOf(setColumns);
            rows = List.copyOf(rows);
        }
    }

    /** @param search the tuple whose key columns find the row */
    public record Update(Tuple search, Tuple newTuple, Expectation expectation) {}
}
