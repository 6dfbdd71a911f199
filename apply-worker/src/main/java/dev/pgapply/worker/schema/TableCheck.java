package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.schema.ColumnDefinition.Generated;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.schema.TargetInventory.Relation;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What of a table the target can have, and for the rest the sentence that says why not. Without a column's type, the key or the partition
 * key there is no table; anything else it can do without. Owned by a planner.
 */
final class TableCheck {

    private static final int FIRST_WITH_VIRTUAL = 18;

    private final TargetInventory target;
    private final Availability availability;
    private final Set<QualifiedName> filtered;

    /** @param filtered published tables of which only some rows come */
    TableCheck(TargetInventory target, Availability availability, Set<QualifiedName> filtered) {
        this.target = target;
        this.availability = availability;
        this.filtered = filtered;
    }

    static String defaultOf(TableDefinition table, ColumnDefinition column) {
        return "the default of " + describe(table, column);
    }

    static String describe(TableDefinition table, ColumnDefinition column) {
        return "column \"" + column.name() + "\" of table \"" + table.name() + "\"";
    }

    static String describe(TableDefinition table, ConstraintDefinition constraint) {
        return constraint.kind().label() + " \"" + constraint.name() + "\" of table \"" + table.name() + "\"";
    }

    static String describe(TableDefinition table, IndexDefinition index) {
        return "index \"" + index.name() + "\" of table \"" + table.name() + "\"";
    }

    /** All that stands against the table as it is on the publisher. */
    void run(TableDefinition table, List<Problem> problems) {
        if (!target.relations().containsKey(table.name()) && target.types().contains(table.name())) {
            problems.add(new Problem(
                    true,
                    "table \"" + table.name() + "\" cannot be created: the target has a type of that name",
                    "rename that type"));
        }
        if (!table.isPartition()) {
            table.parents().stream()
                    .filter(parent -> !canInheritFrom(parent))
                    .map(parent -> new Problem(
                            false,
                            "table \"" + table.name() + "\" will not inherit from table \"" + parent
                                    + "\", which the target does not have",
                            "publish that table too, or create it there"))
                    .forEach(problems::add);
        }
        needs("the partition key of table \"" + table.name() + "\"", table.partitionKeyNeeds(), true, problems);
        for (ColumnDefinition column : table.columns()) {
            run(table, column, problems);
        }
        for (ConstraintDefinition constraint : table.constraints()) {
            Problem problem = problem(table, constraint);
            if (problem != null) {
                problems.add(problem);
            }
        }
        for (IndexDefinition index : table.indexes()) {
            Problem problem = problem(table, index);
            if (problem != null) {
                problems.add(problem);
            }
        }
    }

    private void run(TableDefinition table, ColumnDefinition column, List<Problem> problems) {
        needs(describe(table, column), column.typeNeeds(), true, problems);
        if (column.isGenerated()) {
            needs(describe(table, column), column.expressionNeeds(), true, problems);
        } else {
            needs(defaultOf(table, column), column.expressionNeeds(), false, problems);
        }
        if (column.generated() == Generated.VIRTUAL && target.major() < FIRST_WITH_VIRTUAL) {
            problems.add(new Problem(
                    false,
                    describe(table, column)
                            + " is virtual on the publisher and becomes stored: the target runs PostgreSQL "
                            + target.major(),
                    null));
        }
    }

    private void needs(String what, List<ObjectIdentity> needs, boolean fatal, List<Problem> problems) {
        Problem problem = missing(what, needs, fatal);
        if (problem != null) {
            problems.add(problem);
        }
    }

    private @Nullable Problem missing(String what, List<ObjectIdentity> needs, boolean fatal) {
        ObjectIdentity missing = availability.missing(needs);
        if (missing == null) {
            return null;
        }
        String hint = missing.extension() == null
                ? "create it there first"
                : "CREATE EXTENSION " + Identifiers.quote(missing.extension())
                        + " there, in the same schema as on the publisher";
        return new Problem(
                fatal,
                what + (fatal ? " cannot" : " will not") + " be created: it needs " + missing
                        + ", which the target does not have",
                hint);
    }

    private @Nullable Problem problem(TableDefinition table, ConstraintDefinition constraint) {
        boolean fatal = constraint.isEarly() && constraint.kind() != ConstraintDefinition.Kind.CHECK;
        String what = describe(table, constraint);
        Problem missing = missing(what, constraint.needs(), fatal);
        if (missing != null) {
            return missing;
        }
        if (constraint.oldestMajor() > target.major()) {
            return tooOld(what, constraint.oldestMajor(), fatal);
        }
        if (constraint.isIndexed() && isTaken(table, constraint.name())) {
            return taken(what, fatal);
        }
        QualifiedName referenced = constraint.referenced();
        if (referenced != null && !availability.hasRelation(referenced)) {
            return new Problem(
                    false,
                    what + " will not be created: it references table \"" + referenced
                            + "\", which the target does not have",
                    "publish that table too, or create it there");
        }
        if (referenced != null && filtered.contains(referenced)) {
            return new Problem(
                    false,
                    what + " will not be created: only some rows of table \"" + referenced + "\" are published",
                    null);
        }
        return null;
    }

    private @Nullable Problem problem(TableDefinition table, IndexDefinition index) {
        boolean fatal = index.replicaIdentity();
        String what = describe(table, index);
        Problem missing = missing(what, index.needs(), fatal);
        if (missing != null) {
            return missing;
        }
        if (index.oldestMajor() > target.major()) {
            return tooOld(what, index.oldestMajor(), fatal);
        }
        return isTaken(table, index.name()) ? taken(what, fatal) : null;
    }

    private Problem tooOld(String what, int oldestMajor, boolean fatal) {
        return new Problem(
                fatal,
                what + (fatal ? " cannot" : " will not") + " be created: it needs PostgreSQL " + oldestMajor
                        + ", the target runs " + target.major(),
                null);
    }

    private static Problem taken(String what, boolean fatal) {
        return new Problem(
                fatal,
                what + (fatal ? " cannot" : " will not")
                        + " be created: another relation of the target has that name in the same schema",
                "rename that one");
    }

    /** An index has its name within the table's schema. */
    private boolean isTaken(TableDefinition table, String name) {
        Relation relation =
                target.relations().get(new QualifiedName(table.name().schema(), name));
        return relation != null && !table.name().equals(relation.indexedTable());
    }

    boolean canHave(TableDefinition table, ConstraintDefinition constraint) {
        return problem(table, constraint) == null;
    }

    boolean canHave(TableDefinition table, IndexDefinition index) {
        return problem(table, index) == null;
    }

    boolean hasIndex(TableDefinition table, String name) {
        Relation relation =
                target.relations().get(new QualifiedName(table.name().schema(), name));
        return relation != null && table.name().equals(relation.indexedTable());
    }

    /** Whether a partition can be one on the target: under what is created with it, or under an equal table that is there. */
    boolean canAttach(TableDefinition partition) {
        Relation parent = target.relations().get(partition.parents().get(0));
        return parent == null
                ? availability.hasRelation(partition.parents().get(0))
                : parent.partitionKey() != null && parent.partitionKey().equals(partition.parentPartitionKey());
    }

    /** Whether it is there or will be, so that a table can inherit from it. */
    boolean canInheritFrom(QualifiedName parent) {
        Relation relation = target.relations().get(parent);
        return relation == null ? availability.hasRelation(parent) : relation.kind() == 'r';
    }
}
