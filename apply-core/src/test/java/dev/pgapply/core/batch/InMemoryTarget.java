package dev.pgapply.core.batch;

import dev.pgapply.core.batch.SetPlan.Expectation;
import dev.pgapply.core.pgoutput.Tuple;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;

/** A target in memory that applies changes one by one, or a set plan; both count conflicts by relation and kind. */
final class InMemoryTarget {

    private final Map<String, InMemoryTable> tables = new LinkedHashMap<>();
    private final Map<String, Integer> conflicts = new TreeMap<>();
    private final Random random;
    private boolean needsExactReplay;

    InMemoryTarget(Random random) {
        this.random = random;
    }

    void add(InMemoryTable table) {
        tables.put(table.relation.target().name().name(), table);
    }

    InMemoryTarget copy() {
        InMemoryTarget copy = new InMemoryTarget(random);
        tables.forEach((name, table) -> copy.tables.put(name, table.copy()));
        copy.conflicts.putAll(conflicts);
        return copy;
    }

    Map<String, List<String>> contents() {
        Map<String, List<String>> contents = new LinkedHashMap<>();
        tables.forEach((name, table) -> contents.put(name, table.contents()));
        return contents;
    }

    Map<String, Integer> conflicts() {
        return conflicts;
    }

    int conflictCount() {
        return conflicts.values().stream().mapToInt(Integer::intValue).sum();
    }

    void executeExactly(ChangeBatch batch) {
        for (TransactionSlice transaction : batch.transactions()) {
            for (Step step : transaction.steps()) {
                if (step instanceof Change change) {
                    execute(change);
                } else {
                    truncate((Truncation) step);
                }
            }
        }
    }

    /** False if the plan asks for the exact path; what was executed until then is to be thrown away. */
    boolean execute(SetPlan plan) {
        needsExactReplay = false;
        for (SetPlan.Phase phase : plan.phases()) {
            if (phase instanceof SetPlan.TruncatePhase truncate) {
                truncate(truncate.truncation());
                continue;
            }
            List<SetPlan.RelationChanges> relations = new ArrayList<>(((SetPlan.RelationPhase) phase).relations());
            Collections.shuffle(relations, random); // they are independent
            for (SetPlan.RelationChanges relation : relations) {
                InMemoryTable table = table(relation.relation().target().name().name());
                relation.stages().forEach(stage -> execute(table, stage));
            }
        }
        return !needsExactReplay;
    }

    private void execute(InMemoryTable table, SetPlan.Stage stage) {
        List<Runnable> misses = new ArrayList<>();
        for (SetPlan.Delete delete : shuffled(stage.deletes())) {
            boolean found = table.delete(delete.search());
            if (!confirms(delete.expectation(), found)) {
                misses.add(() -> missing(table, "delete_missing", table.isFullRow() && table.delete(delete.search())));
            }
        }
        for (SetPlan.UpdateSet set : stage.updates()) {
            misses.addAll(update(table, set));
        }
        stage.inserts().forEach(table::insert);
        // The dialect may look again for single rows that were missing; what it finds then must not depend on the
        // batch.
        Collections.shuffle(misses, random);
        misses.forEach(Runnable::run);
        stage.inOrder().forEach(this::execute);
    }

    /** One statement: every row is found among those that were there when it began, and no row is changed twice. */
    private List<Runnable> update(InMemoryTable table, SetPlan.UpdateSet set) {
        List<Runnable> misses = new ArrayList<>();
        List<InMemoryTable.Row> before = new ArrayList<>(table.rows());
        for (SetPlan.Update update : shuffled(set.rows())) {
            if (set.setColumns().stream().anyMatch(update.newTuple()::isUnchanged)) {
                throw new AssertionError("a column is set that was not sent");
            }
            InMemoryTable.Row row = table.find(update.search(), before);
            if (row != null) {
                before.remove(row);
                table.replace(row, InMemoryTable.changed(row, update.newTuple()));
            }
            if (!confirms(update.expectation(), row != null)) {
                misses.add(() -> missing(table, "update_missing", table.update(update.search(), update.newTuple())));
            }
        }
        return misses;
    }

    /** False if the row's absence is a conflict and nothing more. */
    private boolean confirms(Expectation expectation, boolean found) {
        return switch (expectation) {
            case MAY_BE_MISSING -> found;
            case MUST_BE_FOUND -> {
                needsExactReplay |= !found;
                yield true;
            }
            case MUST_BE_ABSENT -> {
                needsExactReplay |= found;
                yield true;
            }
        };
    }

    private <T> List<T> shuffled(List<T> list) {
        List<T> shuffled = new ArrayList<>(list);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    private void execute(Change change) {
        InMemoryTable table = table(change.relation().target().name().name());
        switch (change.kind()) {
            case INSERT -> table.insert(Objects.requireNonNull(change.newTuple()));
            case UPDATE -> {
                Tuple search = Objects.requireNonNull(change.searchTuple());
                missing(table, "update_missing", table.update(search, Objects.requireNonNull(change.newTuple())));
            }
            case DELETE -> missing(table, "delete_missing", table.delete(Objects.requireNonNull(change.searchTuple())));
        }
    }

    private void missing(InMemoryTable table, String conflict, boolean found) {
        if (!found) {
            conflicts.merge(table.relation.target().name().name() + " " + conflict, 1, Integer::sum);
        }
    }

    private void truncate(Truncation truncation) {
        truncation
                .relations()
                .forEach(relation -> table(relation.target().name().name()).truncate());
    }

    private InMemoryTable table(String name) {
        return Objects.requireNonNull(tables.get(name));
    }
}
