package dev.pgapply.core.batch;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.pgoutput.TupleBuilder;
import dev.pgapply.core.relation.RelationMapEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Changes, tuples and transactions written as text. */
final class Changes {

    /** A value that was not sent (unchanged TOAST). */
    static final String UNCHANGED = "<unchanged>";

    private Changes() {}

    static Tuple tuple(@Nullable String... values) {
        TupleBuilder builder = new TupleBuilder();
        for (String value : values) {
            if (UNCHANGED.equals(value)) {
                builder.unchanged();
            } else {
                builder.text(value);
            }
        }
        return builder.build();
    }

    static Change insert(RelationMapEntry relation, @Nullable String... values) {
        return new Change(Change.Kind.INSERT, relation, null, tuple(values));
    }

    static Change update(RelationMapEntry relation, @Nullable String... values) {
        return new Change(Change.Kind.UPDATE, relation, null, tuple(values));
    }

    static Change update(RelationMapEntry relation, Tuple oldTuple, Tuple newTuple) {
        return new Change(Change.Kind.UPDATE, relation, oldTuple, newTuple);
    }

    static Change delete(RelationMapEntry relation, @Nullable String... values) {
        return new Change(Change.Kind.DELETE, relation, tuple(values), null);
    }

    static TransactionSlice transaction(Step... steps) {
        return new TransactionSlice(new Xid(731), new Lsn(0x100), true, List.of(steps), end(0x108));
    }

    static TransactionSlice.End end(long endLsn) {
        return new TransactionSlice.End(new Lsn(endLsn - 8), new Lsn(endLsn), Instant.EPOCH);
    }

    /** The net effect of one transaction of these steps, in one line a set; "exact" if it has none. */
    static List<String> net(Step... steps) {
        SetPlan plan = Compaction.plan(List.of(transaction(steps)));
        return plan == null ? List.of("exact") : describe(plan);
    }

    static List<String> describe(SetPlan plan) {
        List<String> lines = new ArrayList<>();
        for (SetPlan.Phase phase : plan.phases()) {
            if (phase instanceof SetPlan.RelationPhase relations) {
                relations.relations().forEach(relation -> describe(relation, lines));
            } else {
                lines.add("truncate");
            }
        }
        return lines;
    }

    private static void describe(SetPlan.RelationChanges relation, List<String> lines) {
        for (int i = 0; i < relation.stages().size(); i++) {
            SetPlan.Stage stage = relation.stages().get(i);
            String where = relation.relation().target().name().name() + "/" + i + ": ";
            for (SetPlan.Delete delete : stage.deletes()) {
                lines.add(where + "delete " + text(delete.search()) + " " + delete.expectation());
            }
            for (SetPlan.UpdateSet set : stage.updates()) {
                for (SetPlan.Update update : set.rows()) {
                    lines.add(where + "update " + text(update.search()) + " to " + text(update.newTuple()) + " set "
                            + set.setColumns() + " " + update.expectation());
                }
            }
            for (Tuple insert : stage.inserts()) {
                lines.add(where + "insert " + text(insert));
            }
            for (Change change : stage.inOrder()) {
                lines.add(where + "in order " + change.kind());
            }
        }
    }

    /** What a batch says, in its order, and its net effect: for a failure's message. */
    static String describe(ChangeBatch batch) {
        List<String> lines = new ArrayList<>();
        for (TransactionSlice transaction : batch.transactions()) {
            for (Step step : transaction.steps()) {
                lines.add(step instanceof Change change ? describe(change) : "truncate");
            }
        }
        lines.add("net effect:");
        lines.addAll(batch.plan() == null ? List.of("exact") : describe(batch.plan()));
        return String.join("\n", lines);
    }

    private static String describe(Change change) {
        Tuple old = change.oldTuple();
        Tuple row = change.newTuple();
        return change.relation().target().name().name() + " " + change.kind() + " " + (old == null ? "" : text(old))
                + " " + (row == null ? "" : text(row));
    }

    static String text(Tuple tuple) {
        List<String> values = new ArrayList<>();
        for (int column = 0; column < tuple.columnCount(); column++) {
            values.add(tuple.isUnchanged(column) ? "~" : String.valueOf(tuple.text(column)));
        }
        return "(" + String.join(",", values) + ")";
    }
}
