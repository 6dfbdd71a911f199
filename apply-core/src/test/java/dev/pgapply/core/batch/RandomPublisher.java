package dev.pgapply.core.batch;

import static dev.pgapply.core.batch.Changes.UNCHANGED;
import static dev.pgapply.core.batch.Changes.tuple;

import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.SearchKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A publisher that changes its tables at random, but only as its own constraints allow, and says so as pgoutput does. Tables are small,
 * so that a key or a row is touched again and again.
 */
final class RandomPublisher {

    private static final int KEYS = 7;
    private static final String[] WORDS = {"a", "b", "c"};
    private static final String[] NUMERALS = {"1", "1.0", "2", "2.00", "3"};

    /** Of the tables with a key: a unique column, NULL allowed. */
    static final int UNIQUE_COLUMN = 3;

    final List<InMemoryTable> tables = new ArrayList<>();
    private final Random random;
    private final boolean insertsMayMissValues;

    RandomPublisher(Random random, boolean unique, boolean insertsMayMissValues) {
        this.random = random;
        this.insertsMayMissValues = insertsMayMissValues;
        int uniqueColumn = unique ? UNIQUE_COLUMN : -1;
        tables.add(new InMemoryTable(
                RelationFixture.keyed("keyed", "a", "big", "u").entry(), uniqueColumn, random));
        tables.add(new InMemoryTable(
                RelationFixture.keyed("fullkeyed", "a", "big", "u")
                        .replicaIdentity(ReplicaIdentity.FULL)
                        .entry(),
                uniqueColumn,
                random));
        tables.add(new InMemoryTable(
                RelationFixture.named("numeric")
                        .keyColumn("n", RelationFixture.NUMERIC)
                        .column("a", RelationFixture.TEXT)
                        .identity("n")
                        .entry(),
                -1,
                random));
        tables.add(new InMemoryTable(RelationFixture.full("full", "a", "big").entry(), -1, random));
        tables.add(new InMemoryTable(
                RelationFixture.named("priced")
                        .replicaIdentity(ReplicaIdentity.FULL)
                        .keyColumn("a", RelationFixture.TEXT)
                        .keyColumn("price", RelationFixture.NUMERIC)
                        .entry(),
                -1,
                random));
        tables.add(new InMemoryTable(
                RelationFixture.named("log").column("a", RelationFixture.TEXT).entry(), -1, random));
    }

    /** Makes one or more changes and tells them. */
    void change(Consumer<Step> told) {
        InMemoryTable table = tables.get(random.nextInt(tables.size()));
        boolean onlyInserts = table.relation.key().kind() == SearchKey.Kind.NONE;
        int dice = random.nextInt(100);
        if (dice < 2) {
            truncate(table, told);
        } else if (onlyInserts || dice < 35 || table.rows().isEmpty()) {
            insert(table, told);
        } else if (dice < 60) {
            delete(table, told);
        } else if (dice < 63) {
            // as UPDATE ... SET id = id + 1 would do in a physical order that makes it legal
            List.copyOf(table.rows()).forEach(row -> update(table, row, told, true));
        } else {
            update(table, table.rows().get(random.nextInt(table.rows().size())), told, random.nextInt(4) == 0);
        }
    }

    private void truncate(InMemoryTable table, Consumer<Step> told) {
        List<RelationMapEntry> relations = new ArrayList<>(List.of(table.relation));
        table.truncate();
        InMemoryTable other = tables.get(random.nextInt(tables.size()));
        if (other != table && random.nextBoolean()) {
            other.truncate();
            relations.add(other.relation);
        }
        told.accept(new Truncation(relations, false));
    }

    private void insert(InMemoryTable table, Consumer<Step> told) {
        InMemoryTable.Row row = new InMemoryTable.Row(randomValues(table), InMemoryTable.OWN);
        if (!isLegal(() -> table.add(row))) {
            return;
        }
        @Nullable String[] sent = row.values.clone();
        if (insertsMayMissValues && isKeyed(table) && sent.length > 2 && random.nextInt(5) == 0) {
            sent[2] = UNCHANGED;
        }
        told.accept(new Change(Change.Kind.INSERT, table.relation, null, tuple(sent)));
    }

    private void delete(InMemoryTable table, Consumer<Step> told) {
        InMemoryTable.Row row = table.rows().get(random.nextInt(table.rows().size()));
        table.rows().remove(row);
        told.accept(new Change(Change.Kind.DELETE, table.relation, oldTuple(table, row), null));
    }

    private void update(InMemoryTable table, InMemoryTable.Row row, Consumer<Step> told, boolean changeKey) {
        @Nullable String[] values = row.values.clone();
        @Nullable String[] anew = randomValues(table);
        for (int column = 0; column < values.length; column++) {
            boolean key = isKeyed(table) && column == 0;
            if (key ? changeKey : random.nextBoolean()) {
                values[column] = anew[column];
            }
        }
        InMemoryTable.Row changed = new InMemoryTable.Row(values, row.own);
        if (!isLegal(() -> table.replace(row, changed))) {
            return;
        }
        @Nullable String[] sent = values.clone();
        for (int column = 1; column < values.length; column++) {
            String value = values[column];
            if (value != null && value.equals(row.values[column]) && random.nextBoolean()) {
                sent[column] = UNCHANGED;
            }
        }
        boolean full = table.relation.remote().replicaIdentity() == ReplicaIdentity.FULL;
        boolean keyChanged = !Arrays.equals(values, 0, 1, row.values, 0, 1);
        Tuple old = full || keyChanged ? oldTuple(table, row) : null;
        told.accept(new Change(Change.Kind.UPDATE, table.relation, old, tuple(sent)));
    }

    private static Tuple oldTuple(InMemoryTable table, InMemoryTable.Row row) {
        @Nullable String[] values = row.values.clone();
        if (table.relation.remote().replicaIdentity() != ReplicaIdentity.FULL) {
            Arrays.fill(values, 1, values.length, null);
        }
        return tuple(values);
    }

    private static boolean isKeyed(InMemoryTable table) {
        return table.relation.key().kind() == SearchKey.Kind.UNIQUE;
    }

    private static boolean isLegal(Runnable change) {
        try {
            change.run();
            return true;
        } catch (InMemoryTable.RefusedException e) {
            return false;
        }
    }

    /** A row that any table of this shape may hold, its constraints aside. */
    @Nullable
    String[] randomValues(InMemoryTable table) {
        @Nullable
        String[] values = new @Nullable String[table.relation.remote().columns().size()];
        for (int column = 0; column < values.length; column++) {
            var type = table.relation.remote().columns().get(column).type();
            if (type.equals(RelationFixture.INT4)) {
                values[column] = Integer.toString(random.nextInt(KEYS));
            } else if (type.equals(RelationFixture.NUMERIC)) {
                values[column] = NUMERALS[random.nextInt(NUMERALS.length)];
            } else {
                values[column] = random.nextInt(4) == 0 ? null : WORDS[random.nextInt(WORDS.length)];
            }
        }
        return values;
    }
}
