package dev.pgapply.core.batch;

import dev.pgapply.core.batch.SetPlan.Expectation;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A relation whose rows are found by all their columns (REPLICA IDENTITY FULL, no key on the target). Rows that are equal are
 * interchangeable, so the table is a multiset, and each change takes one row out, puts one in, or both.
 *
 * <p><b>A change that takes out a row which an earlier change of the batch put in joins that change</b>, byte for byte: insert R and
 * update R to S is insert S; update A to R and delete R is delete A; insert R and delete R is nothing. It is as good as taking out
 * another row equal to R, because PostgreSQL promises no particular one. What remains takes out only rows that were there before the
 * batch, so one stage holds it, however long a chain like {@code a = a + 1} is.
 *
 * <p><b>Too few rows.</b> As long as each change finds its row, order does not matter: the multiset is what was there, less what is
 * taken out, plus what is put in. If a row is missing, it matters who came first. So a change that takes out a row may be missing its
 * row only if nothing else in the batch touches an equal one, or if all that do are deletes, which are alike. Otherwise it must be
 * found, or the batch is replayed exactly. Equal means here: not known to differ. Columns whose bytes do not decide equality (numeric
 * 1.0 and 1.00) are left out of that comparison, so it errs on the side of the replay.
 *
 * <p>Under FULL the old tuple carries the values of unchanged TOAST columns. They complete the row for comparing; what is set is only
 * what the new tuple sends. Updates that set different columns run as separate sets, of which a later one could take out what an
 * earlier one put in; where rows are touched more than once, all columns are set, so that there is one set.
 */
final class FullRowCompaction implements RelationCompaction {

    private final RelationMapEntry relation;
    private final int[] rowColumns;
    private final int[] decidingColumns;
    private final SentFormats formats;

    /** The newest net change that puts in this row; others that put in an equal one hang from it. */
    private final Map<RowKey, NetChange> putIn = new HashMap<>();

    private final Map<RowKey, Touches> touches = new HashMap<>();
    private final List<NetChange> changes = new ArrayList<>();
    private boolean contested;

    /** What single changes, joined, come to: an insert without {@code search}, a delete without {@code row}, nothing without both. */
    private static final class NetChange {
        final @Nullable Tuple search;
        final Touches searchTouches;
        /** The whole row that is put in. */
        @Nullable
        Tuple row;
        /** The same, without what was not sent. */
        @Nullable
        Tuple sent;

        boolean several;

        @Nullable
        NetChange equalRow;

        NetChange(@Nullable Tuple search, Touches searchTouches) {
            this.search = search;
            this.searchTouches = searchTouches;
        }

        Expectation expectation() {
            return several || searchTouches.contested() ? Expectation.MUST_BE_FOUND : Expectation.MAY_BE_MISSING;
        }
    }

    /** How many single changes touch rows that may be equal, before or behind the change. */
    private static final class Touches {
        int count;
        boolean onlyDeletes = true;

        boolean contested() {
            return count > 1 && !onlyDeletes;
        }
    }

    FullRowCompaction(RelationMapEntry relation) {
        this.relation = relation;
        this.rowColumns = Compaction.columns(relation.key().remoteColumns());
        this.decidingColumns =
                IntStream.of(rowColumns).filter(relation::bytesDecideEquality).toArray();
        this.formats = new SentFormats(rowColumns);
    }

    @Override
    public boolean add(Change change) {
        return switch (change.kind()) {
            case INSERT -> addInsert(Objects.requireNonNull(change.newTuple()));
            case UPDATE -> addUpdate(change.oldTuple(), Objects.requireNonNull(change.newTuple()));
            case DELETE -> addDelete(Objects.requireNonNull(change.oldTuple()));
        };
    }

    private boolean addInsert(Tuple newTuple) {
        if (!formats.agree(newTuple)) {
            return false;
        }
        RowKey row = new RowKey(newTuple, rowColumns);
        NetChange change = new NetChange(null, touch(row, newTuple, Change.Kind.INSERT));
        changes.add(change);
        putIn(change, row, newTuple, newTuple);
        return true;
    }

    private boolean addUpdate(@Nullable Tuple oldTuple, Tuple newTuple) {
        if (oldTuple == null) {
            return false; // the publisher's identity is not FULL, whatever it said
        }
        Tuple whole = newTuple.withUnchangedFrom(oldTuple);
        if (!formats.agree(oldTuple) || !formats.agree(whole)) {
            return false;
        }
        RowKey oldRow = new RowKey(oldTuple, rowColumns);
        RowKey newRow = new RowKey(whole, rowColumns);
        Touches oldTouches = touch(oldRow, oldTuple, Change.Kind.UPDATE);
        NetChange change = takeOut(oldRow, oldTuple, oldTouches);
        if (touches.get(deciding(newRow, whole)) != oldTouches) {
            touch(newRow, whole, Change.Kind.UPDATE);
        }
        putIn(change, newRow, whole, change.sent == null ? newTuple : newTuple.withUnchangedFrom(change.sent));
        return true;
    }

    private boolean addDelete(Tuple oldTuple) {
        if (!formats.agree(oldTuple)) {
            return false;
        }
        RowKey row = new RowKey(oldTuple, rowColumns);
        NetChange change = takeOut(row, oldTuple, touch(row, oldTuple, Change.Kind.DELETE));
        change.row = null;
        change.sent = null;
        return true;
    }

    private Touches touch(RowKey row, Tuple tuple, Change.Kind kind) {
        Touches known = touches.computeIfAbsent(deciding(row, tuple), key -> new Touches());
        known.count++;
        known.onlyDeletes &= kind == Change.Kind.DELETE;
        contested |= known.contested();
        return known;
    }

    private RowKey deciding(RowKey row, Tuple tuple) {
        return decidingColumns.length == rowColumns.length ? row : new RowKey(tuple, decidingColumns);
    }

    private NetChange takeOut(RowKey row, Tuple search, Touches searchTouches) {
        NetChange earlier = putIn.get(row);
        if (earlier == null) {
            NetChange change = new NetChange(search, searchTouches);
            changes.add(change);
            return change;
        }
        if (earlier.equalRow == null) {
            putIn.remove(row);
        } else {
            putIn.put(row, earlier.equalRow);
        }
        earlier.equalRow = null;
        earlier.several = true;
        return earlier;
    }

    private void putIn(NetChange change, RowKey row, Tuple whole, Tuple sent) {
        change.row = whole;
        change.sent = sent;
        change.equalRow = putIn.put(row, change);
    }

    @Override
    public SetPlan.RelationChanges netEffect() {
        List<SetPlan.Delete> deletes = new ArrayList<>();
        List<Tuple> inserts = new ArrayList<>();
        for (NetChange change : changes) {
            if (change.row == null && change.search != null) {
                deletes.add(new SetPlan.Delete(change.search, change.expectation()));
            } else if (change.row != null && change.search == null) {
                inserts.add(change.row);
            }
        }
        List<SetPlan.UpdateSet> updates = updates(false);
        if (updates.size() > 1 && contested) {
            updates = updates(true);
        }
        return new SetPlan.RelationChanges(relation, List.of(new SetPlan.Stage(deletes, updates, inserts, List.of())));
    }

    private List<SetPlan.UpdateSet> updates(boolean wholeRows) {
        UpdateSets sets = new UpdateSets(relation.mappedColumns());
        for (NetChange change : changes) {
            Tuple newTuple = wholeRows ? change.row : change.sent;
            if (change.search != null && newTuple != null) {
                sets.add(new SetPlan.Update(change.search, newTuple, change.expectation()));
            }
        }
        return sets.sets();
    }
}
