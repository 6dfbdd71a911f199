package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.schema.ConstraintDefinition.Kind;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.schema.SchemaPlan.Statement;
import dev.pgapply.worker.schema.SchemaPlan.Step;
import dev.pgapply.worker.schema.TargetInventory.TableConstraint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides what created tables still lack once their rows are there: secondary indexes and unique constraints, partitions first, so that a
 * partitioned table takes up theirs; then the constraints that not all rows need to meet; foreign keys last, when every table has its keys.
 * What is there by name is done. Pure.
 */
public final class DeferredPlanner {

    /** How much of it. */
    public enum Part {
        /** What speaks of one table alone. */
        WITHOUT_FOREIGN_KEYS,
        ALL
    }

    private DeferredPlanner() {}

    /**
     * @param schema its tables are on the target
     * @param filtered published tables of which only some rows come
     * @return steps of one optional statement each
     */
    public static SchemaPlan plan(
            PublisherSchema schema, TargetInventory target, Set<QualifiedName> filtered, Part part) {
        TableCheck check = new TableCheck(target, new Availability(schema, target), filtered);
        List<Problem> problems = new ArrayList<>();
        List<Step> indexes = new ArrayList<>();
        List<Step> conditions = new ArrayList<>();
        List<Step> foreignKeys = new ArrayList<>();
        for (TableDefinition table : partitionsFirst(schema.tables())) {
            check.run(table, problems);
            TableStatements ddl = new TableStatements(table, target.major());
            for (ConstraintDefinition constraint : table.constraints()) {
                TableConstraint name = new TableConstraint(table.name(), constraint.name());
                if (constraint.isEarly() || target.constraints().contains(name) || !check.canHave(table, constraint)) {
                    continue;
                }
                List<Step> steps = constraint.kind() == Kind.FOREIGN_KEY
                        ? foreignKeys
                        : constraint.isIndexed() ? indexes : conditions;
                steps.add(step(table, TableCheck.describe(table, constraint), ddl.addConstraint(constraint)));
            }
            for (IndexDefinition index : table.indexes()) {
                if (!index.replicaIdentity() && !check.hasIndex(table, index.name()) && check.canHave(table, index)) {
                    indexes.add(step(table, TableCheck.describe(table, index), ddl.createIndex(index)));
                }
            }
        }
        List<Step> steps = new ArrayList<>(indexes);
        steps.addAll(conditions);
        if (part == Part.ALL) {
            steps.addAll(foreignKeys);
        }
        return new SchemaPlan(steps, problems);
    }

    private static Step step(TableDefinition table, String description, String sql) {
        return new Step(description, List.of(table.name()), List.of(new Statement(sql, description)));
    }

    private static List<TableDefinition> partitionsFirst(List<TableDefinition> tables) {
        Map<QualifiedName, TableDefinition> byName = new HashMap<>();
        tables.forEach(table -> byName.put(table.name(), table));
        return tables.stream()
                .sorted(Comparator.comparingInt((TableDefinition table) -> depth(table, byName))
                        .reversed())
                .toList();
    }

    private static int depth(TableDefinition table, Map<QualifiedName, TableDefinition> byName) {
        int depth = 0;
        TableDefinition parent =
                table.isPartition() ? byName.get(table.parents().get(0)) : null;
        while (parent != null) {
            depth++;
            parent = parent.isPartition() ? byName.get(parent.parents().get(0)) : null;
        }
        return depth;
    }
}
