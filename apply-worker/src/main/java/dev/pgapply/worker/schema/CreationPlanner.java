package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.schema.SchemaPlan.Statement;
import dev.pgapply.worker.schema.SchemaPlan.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides how absent tables come to be on a target: schemas and types first, each by itself; then the tables, each whole, with the
 * sequences it uses, its key and what its rows must meet; a partitioned table together with its partitions. What exists is used as it is.
 * Pure; used once.
 */
public final class CreationPlanner {

    private final PublisherSchema schema;
    private final TargetInventory target;
    private final Availability availability;
    private final TableCheck check;
    private final List<Step> steps = new ArrayList<>();
    private final List<Problem> problems = new ArrayList<>();
    private final Set<String> schemasSeen = new HashSet<>();
    private final Set<String> typesSeen = new HashSet<>();
    private final Set<QualifiedName> sequencesCreated = new HashSet<>();
    private final Map<QualifiedName, TableDefinition> tables = new LinkedHashMap<>();
    private final Map<String, TypeDefinition> types = new HashMap<>();

    private CreationPlanner(PublisherSchema schema, TargetInventory target, Set<QualifiedName> filtered) {
        this.schema = schema;
        this.target = target;
        this.availability = new Availability(schema, target);
        this.check = new TableCheck(target, availability, filtered);
        schema.tables().forEach(table -> tables.put(table.name(), table));
        schema.types().forEach(type -> types.put(type.identity().key(), type));
    }

    /**
     * @param schema its tables are all absent on the target
     * @param filtered published tables of which only some rows come
     */
    public static SchemaPlan plan(PublisherSchema schema, TargetInventory target, Set<QualifiedName> filtered) {
        return new CreationPlanner(schema, target, filtered).plan();
    }

    private SchemaPlan plan() {
        tables.values().forEach(table -> check.run(table, problems));
        for (TypeDefinition type : schema.types()) {
            createType(type);
        }
        Map<QualifiedName, List<TableDefinition>> trees = new LinkedHashMap<>();
        for (TableDefinition table : inOrder()) {
            trees.computeIfAbsent(treeOf(table), root -> new ArrayList<>()).add(table);
        }
        trees.values().forEach(this::createTree);
        return new SchemaPlan(steps, problems);
    }

    private void createSchema(String name) {
        if (!schemasSeen.add(name)) {
            return;
        }
        Boolean mayCreate = target.schemas().get(name);
        if (mayCreate == null) {
            if (!target.mayCreateSchemas()) {
                problems.add(new Problem(
                        true,
                        "role \"" + target.role() + "\" may not create schema \"" + name + "\" in the target",
                        "GRANT CREATE ON DATABASE … TO \"" + target.role()
                                + "\" there, or create the schema and grant CREATE on it"));
            }
            steps.add(new Step(
                    "schema \"" + name + "\"",
                    List.of(),
                    List.of(Statement.required("CREATE SCHEMA " + Identifiers.quote(name)))));
        } else if (!mayCreate) {
            problems.add(new Problem(
                    true,
                    "role \"" + target.role() + "\" may not create anything in schema \"" + name + "\" of the target",
                    "GRANT CREATE ON SCHEMA " + Identifiers.quote(name) + " TO \"" + target.role() + "\" there"));
        }
    }

    /** Those it needs first. One that cannot be made is told where a column needs it. */
    private void createType(TypeDefinition type) {
        if (!typesSeen.add(type.identity().key()) || !type.isCreatable() || availability.has(type.identity())) {
            return;
        }
        for (ObjectIdentity need : type.needs()) {
            TypeDefinition needed = types.get(need.key());
            if (needed != null) {
                createType(needed);
            }
        }
        if (availability.missing(type.needs()) != null) {
            return;
        }
        createSchema(type.name().schema());
        steps.add(new Step(type.identity().toString(), List.of(), List.of(Statement.required(type.createStatement()))));
    }

    /** Parents before those that inherit from them. */
    private List<TableDefinition> inOrder() {
        List<TableDefinition> ordered = new ArrayList<>();
        Set<QualifiedName> seen = new HashSet<>();
        tables.values().forEach(table -> order(table, ordered, seen));
        return ordered;
    }

    private void order(TableDefinition table, List<TableDefinition> ordered, Set<QualifiedName> seen) {
        if (!seen.add(table.name())) {
            return;
        }
        for (QualifiedName parent : table.parents()) {
            TableDefinition first = tables.get(parent);
            if (first != null) {
                order(first, ordered, seen);
            }
        }
        ordered.add(table);
    }

    /** The uppermost table of the partition tree that is created too. */
    private QualifiedName treeOf(TableDefinition table) {
        TableDefinition root = table;
        while (root.isPartition()) {
            TableDefinition parent = tables.get(root.parents().get(0));
            if (parent == null) {
                break;
            }
            root = parent;
        }
        return root.name();
    }

    /** In one transaction: what exists of a partitioned table that exists is somebody's choice. */
    private void createTree(List<TableDefinition> tree) {
        List<Statement> statements = new ArrayList<>();
        for (TableDefinition table : tree) {
            createSchema(table.name().schema());
            createTable(table, statements);
        }
        TableDefinition root = tree.get(0);
        int partitions = tree.size() - 1;
        steps.add(new Step(
                (root.partitionKey() == null ? "table " : "partitioned table ")
                        + root.name()
                        + (partitions == 0
                                ? ""
                                : " with " + partitions + (partitions == 1 ? " partition" : " partitions")),
                tree.stream().map(TableDefinition::name).toList(),
                statements));
    }

    private void createTable(TableDefinition table, List<Statement> statements) {
        TableStatements ddl = new TableStatements(table, target.major());
        List<SequenceDefinition> owned = createSequences(table, statements);
        statements.add(Statement.required(ddl.create(inheritedFrom(table), column -> identityOptions(table, column))));
        ddl.storage().forEach(sql -> statements.add(Statement.required(sql)));
        owned.stream()
                .map(SequenceDefinition::ownedBy)
                .forEach(sql -> statements.add(Statement.required(String.valueOf(sql))));
        for (ColumnDefinition column : table.columns()) {
            if (column.hasDefault() && availability.missing(column.expressionNeeds()) == null) {
                statements.add(new Statement(ddl.setDefault(column), TableCheck.defaultOf(table, column)));
            }
        }
        for (ConstraintDefinition constraint : table.constraints()) {
            if (constraint.isEarly() && check.canHave(table, constraint)) {
                boolean key = constraint.kind() != ConstraintDefinition.Kind.CHECK;
                statements.add(new Statement(
                        ddl.addConstraint(constraint), key ? null : TableCheck.describe(table, constraint)));
            }
        }
        for (IndexDefinition index : table.indexes()) {
            if (index.replicaIdentity()) {
                statements.add(Statement.required(ddl.createIndex(index)));
            }
        }
        String replicaIdentity = ddl.replicaIdentity();
        if (replicaIdentity != null) {
            statements.add(Statement.required(replicaIdentity));
        }
        if (table.isPartition() && check.canAttach(table)) {
            statements.add(Statement.required(ddl.attach()));
        }
    }

    private List<QualifiedName> inheritedFrom(TableDefinition table) {
        if (table.isPartition()) {
            return List.of();
        }
        return table.parents().stream().filter(check::canInheritFrom).toList();
    }

    /** The sequences that the table's defaults use and nobody has created yet; returns those to be given to their columns. */
    private List<SequenceDefinition> createSequences(TableDefinition table, List<Statement> statements) {
        List<SequenceDefinition> owned = new ArrayList<>();
        for (SequenceDefinition sequence : schema.sequences()) {
            boolean uses = table.columns().stream()
                    .flatMap(column -> column.expressionNeeds().stream())
                    .anyMatch(need -> sequence.name().equals(need.relation()));
            boolean owns = table.name().equals(sequence.owner())
                    && table.columns().stream().anyMatch(column -> column.name().equals(sequence.ownerColumn()));
            if (sequence.identity() || (!uses && !owns) || target.relations().containsKey(sequence.name())) {
                continue;
            }
            createSchema(sequence.name().schema());
            if (sequencesCreated.add(sequence.name())) {
                statements.add(Statement.required(sequence.createStatement()));
            }
            if (owns) {
                owned.add(sequence);
            }
        }
        return owned;
    }

    private String identityOptions(TableDefinition table, ColumnDefinition column) {
        for (SequenceDefinition sequence : schema.sequences()) {
            if (sequence.identity()
                    && table.name().equals(sequence.owner())
                    && column.name().equals(sequence.ownerColumn())) {
                // Where the name is taken the server chooses another one.
                String name = target.relations().containsKey(sequence.name())
                        ? ""
                        : "SEQUENCE NAME " + Identifiers.quote(sequence.name()) + " ";
                return " (" + name + sequence.options() + ")";
            }
        }
        return "";
    }
}
