package dev.pgapply.core.batch;

import dev.pgapply.core.batch.SetPlan.Expectation;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A relation whose rows have a key (the target's identity) that bytes decide.
 *
 * <p><b>One key within one stage.</b> Changes are merged as they come:
 *
 * <pre>
 *                insert                 update                 delete
 *   UNTOUCHED    INSERTED               UPDATED                DELETED
 *   INSERTED     -                      INSERTED, merged       GONE
 *   UPDATED      -                      UPDATED, merged *      DELETED *
 *   DELETED      REPLACED               -                      -
 *   REPLACED     -                      REPLACED, merged       DELETED *
 *   GONE         INSERTED               -                      -
 * </pre>
 *
 * "-": no publisher does that to one key, unless its rows have another key than the target's; the batch is then applied exactly. "*":
 * the row stands for several changes. If it is missing, each of them is a conflict of its own, so it must be found. A row that is
 * GONE must be absent: if one is found, the insert would have been refused. A single update or delete that misses its row is one
 * conflict, and the insert of a REPLACED row does not care, just as one by one. Merging is by column: what a later change did not
 * send (unchanged TOAST) stays as it was.
 *
 * <p><b>Stages.</b> A key change is an UPDATE by the old key and nothing else, since delete and insert would lose the columns that
 * were not sent and the target's own. It touches two keys, and no set can hold it: it is applied in order, in the list that ends a
 * stage. So
 *
 * <ul>
 *   <li>an ordinary change goes to the stage of its key, or to the one behind it if the key's newest change is in order;
 *   <li>a change in order goes to the later of its keys' stages.
 * </ul>
 *
 * By these rules no change is executed before an earlier one of the same key: within a stage the sets come before the list, and the
 * list keeps its order. A chain of key changes ({@code id = id + 1} over the whole table) stays one list in one stage. The same list
 * takes what is not to be merged: a change with a NULL in its key, and an INSERT that does not carry all its values (a row filter
 * made it of an UPDATE), which only the dialect can complete or refuse.
 */
final class KeyedCompaction implements RelationCompaction {

    private final RelationMapEntry relation;
    private final int[] keyColumns;
    private final SentFormats formats;
    private final Map<RowKey, NetChange> newest = new HashMap<>();
    private final List<List<NetChange>> changes = new ArrayList<>();
    private final List<List<Change>> inOrder = new ArrayList<>();

    /** What the changes of one key in one stage come to; see the diagram above. */
    private enum Net {
        UNTOUCHED,
        INSERTED,
        UPDATED,
        DELETED,
        REPLACED,
        GONE,
        /** The key's newest change stands in the stage's list of single changes. */
        IN_ORDER
    }

    /** One key's net change in one stage. */
    private static final class NetChange {
        final int stage;
        Net net = Net.UNTOUCHED;
        /** How the row that was there before the stage is found. */
        @Nullable
        Tuple search;

        @Nullable
        Tuple newTuple;
        /** Whether what happens to the row that was there before stands for more than one change. */
        boolean several;

        NetChange(int stage) {
            this.stage = stage;
        }
    }

    KeyedCompaction(RelationMapEntry relation) {
        this.relation = relation;
        this.keyColumns = Compaction.columns(relation.key().remoteColumns());
        this.formats = new SentFormats(keyColumns);
    }

    @Override
    public boolean add(Change change) {
        return switch (change.kind()) {
            case INSERT -> addInsert(change, Objects.requireNonNull(change.newTuple()));
            case UPDATE -> addUpdate(change, Objects.requireNonNull(change.newTuple()));
            case DELETE -> addDelete(change, Objects.requireNonNull(change.oldTuple()));
        };
    }

    private boolean addInsert(Change change, Tuple newTuple) {
        RowKey key = key(newTuple);
        if (key == null) {
            return false;
        }
        if (key.hasNull() || Compaction.hasUnchanged(relation, newTuple)) {
            return addInOrder(change, key, key);
        }
        return inserted(netChange(key), newTuple);
    }

    private boolean addDelete(Change change, Tuple oldTuple) {
        RowKey key = key(oldTuple);
        if (key == null) {
            return false;
        }
        return key.hasNull() ? addInOrder(change, key, key) : deleted(netChange(key), oldTuple);
    }

    private boolean addUpdate(Change change, Tuple newTuple) {
        Tuple oldTuple = change.oldTuple();
        RowKey key = key(oldTuple == null ? newTuple : oldTuple);
        if (key == null) {
            return false;
        }
        RowKey newKey = key;
        if (oldTuple != null) {
            // a key value that was not sent anew did not change
            newKey = key(newTuple.withUnchangedFrom(oldTuple));
            if (newKey == null) {
                return false;
            }
        }
        if (key.hasNull() || !newKey.equals(key)) {
            return addInOrder(change, key, newKey);
        }
        return updated(netChange(key), oldTuple == null ? newTuple : oldTuple, newTuple);
    }

    /** Null if the bytes do not say which row is meant. */
    private @Nullable RowKey key(Tuple tuple) {
        return formats.agree(tuple) ? new RowKey(tuple, keyColumns) : null;
    }

    private boolean addInOrder(Change change, RowKey key, RowKey newKey) {
        int stage = Math.max(stageOf(key), stageOf(newKey));
        stageList(inOrder, stage).add(change);
        NetChange marker = new NetChange(stage);
        marker.net = Net.IN_ORDER;
        newest.put(key, marker);
        newest.put(newKey, marker);
        return true;
    }

    private int stageOf(RowKey key) {
        NetChange change = newest.get(key);
        return change == null ? 0 : change.stage;
    }

    /** The net change that an ordinary change of the key goes into. */
    private NetChange netChange(RowKey key) {
        NetChange known = newest.get(key);
        if (known != null && known.net != Net.IN_ORDER) {
            return known;
        }
        int stage = known == null ? 0 : known.stage + 1;
        NetChange change = new NetChange(stage);
        newest.put(key, change);
        stageList(changes, stage).add(change);
        return change;
    }

    private static <T> List<T> stageList(List<List<T>> stages, int stage) {
        while (stages.size() <= stage) {
            stages.add(new ArrayList<>());
        }
        return stages.get(stage);
    }

    private static boolean inserted(NetChange change, Tuple newTuple) {
        switch (change.net) {
            case UNTOUCHED, GONE -> change.net = Net.INSERTED;
            case DELETED -> change.net = Net.REPLACED;
            case INSERTED, UPDATED, REPLACED, IN_ORDER -> {
                return false;
            }
        }
        change.newTuple = newTuple;
        return true;
    }

    private static boolean updated(NetChange change, Tuple search, Tuple newTuple) {
        switch (change.net) {
            case UNTOUCHED -> {
                change.net = Net.UPDATED;
                change.search = search;
                change.newTuple = newTuple;
            }
            case UPDATED -> {
                change.newTuple = newTuple.withUnchangedFrom(Objects.requireNonNull(change.newTuple));
                change.several = true;
            }
            case INSERTED, REPLACED ->
                change.newTuple = newTuple.withUnchangedFrom(Objects.requireNonNull(change.newTuple));
            case DELETED, GONE, IN_ORDER -> {
                return false;
            }
        }
        return true;
    }

    private static boolean deleted(NetChange change, Tuple search) {
        switch (change.net) {
            case UNTOUCHED -> {
                change.net = Net.DELETED;
                change.search = search;
            }
            case INSERTED -> {
                change.net = Net.GONE;
                change.search = search;
            }
            case UPDATED, REPLACED -> {
                change.net = Net.DELETED;
                change.several = true;
            }
            case DELETED, GONE, IN_ORDER -> {
                return false;
            }
        }
        change.newTuple = null;
        return true;
    }

    @Override
    public SetPlan.RelationChanges netEffect() {
        List<SetPlan.Stage> stages = new ArrayList<>();
        for (int stage = 0; stage < Math.max(changes.size(), inOrder.size()); stage++) {
            stages.add(stage(
                    stage < changes.size() ? changes.get(stage) : List.of(),
                    stage < inOrder.size() ? inOrder.get(stage) : List.of()));
        }
        return new SetPlan.RelationChanges(relation, stages);
    }

    private SetPlan.Stage stage(List<NetChange> netChanges, List<Change> singleChanges) {
        List<SetPlan.Delete> deletes = new ArrayList<>();
        List<Tuple> inserts = new ArrayList<>();
        UpdateSets updates = new UpdateSets(relation.mappedColumns());
        for (NetChange change : netChanges) {
            Expectation expectation = change.several ? Expectation.MUST_BE_FOUND : Expectation.MAY_BE_MISSING;
            Tuple search = change.search;
            Tuple newTuple = change.newTuple;
            if (change.net == Net.GONE) {
                expectation = Expectation.MUST_BE_ABSENT;
            }
            if (change.net == Net.UPDATED && search != null && newTuple != null) {
                updates.add(new SetPlan.Update(search, newTuple, expectation));
                continue;
            }
            if (change.net != Net.INSERTED && search != null) {
                deletes.add(new SetPlan.Delete(search, expectation));
            }
            if (newTuple != null) {
                inserts.add(newTuple);
            }
        }
        return new SetPlan.Stage(deletes, updates.sets(), inserts, singleChanges);
    }
}
