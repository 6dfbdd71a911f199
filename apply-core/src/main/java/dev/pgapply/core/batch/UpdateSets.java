package dev.pgapply.core.batch;

import dev.pgapply.core.pgoutput.Tuple;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Groups updates of one relation by the columns they set, which are those the publisher sent; groups in first-touch order. */
final class UpdateSets {

    private final List<Integer> mappedColumns;
    private final Map<BitSet, List<SetPlan.Update>> bySent = new LinkedHashMap<>();
    private final BitSet sent = new BitSet();

    /** The rows that set every column, which most do. */
    private @Nullable List<SetPlan.Update> whole;

    UpdateSets(List<Integer> mappedColumns) {
        this.mappedColumns = mappedColumns;
    }

    void add(SetPlan.Update update) {
        Tuple tuple = update.newTuple();
        boolean every = !tuple.hasUnchanged();
        if (every && whole != null) {
            whole.add(update);
            return;
        }
        sent.clear();
        for (int column : mappedColumns) {
            if (!tuple.isUnchanged(column)) {
                sent.set(column);
            }
        }
        List<SetPlan.Update> rows = bySent.get(sent);
        if (rows == null) {
            rows = new ArrayList<>();
            bySent.put((BitSet) sent.clone(), rows);
        }
        rows.add(update);
        if (every) {
            whole = rows;
        }
    }

    List<SetPlan.UpdateSet> sets() {
        List<SetPlan.UpdateSet> sets = new ArrayList<>(bySent.size());
        bySent.forEach((columns, rows) ->
                sets.add(new SetPlan.UpdateSet(columns.stream().boxed().toList(), rows)));
        return sets;
    }
}
