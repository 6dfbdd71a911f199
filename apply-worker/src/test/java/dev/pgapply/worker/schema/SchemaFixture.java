package dev.pgapply.worker.schema;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.worker.schema.ColumnDefinition.Generated;
import dev.pgapply.worker.schema.ColumnDefinition.Identity;
import dev.pgapply.worker.schema.ColumnDefinition.NotNull;
import dev.pgapply.worker.schema.ConstraintDefinition.Kind;
import dev.pgapply.worker.schema.SchemaPlan.Statement;
import dev.pgapply.worker.schema.SchemaPlan.Step;
import dev.pgapply.worker.schema.TargetInventory.Relation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Definitions and targets in few words. */
final class SchemaFixture {

    private SchemaFixture() {}

    static QualifiedName name(String name) {
        return new QualifiedName("public", name);
    }

    static ObjectIdentity type(String identity, @Nullable String extension) {
        return new ObjectIdentity("type", "public", identity, extension, null);
    }

    static ObjectIdentity function(String identity) {
        return new ObjectIdentity("function", "public", identity, null, null);
    }

    static ColumnDefinition column(String name, String type, ObjectIdentity... needs) {
        return new ColumnDefinition(
                name,
                type,
                null,
                null,
                null,
                Generated.NEVER,
                Identity.NONE,
                null,
                List.of(needs),
                List.of(),
                List.of());
    }

    static ColumnDefinition key(String name, String type) {
        return new ColumnDefinition(
                name,
                type,
                null,
                new NotNull(name + "_nn", false),
                null,
                Generated.NEVER,
                Identity.NONE,
                null,
                List.of(),
                List.of(),
                List.of());
    }

    static ColumnDefinition withDefault(String name, String type, String expression, ObjectIdentity... needs) {
        return new ColumnDefinition(
                name,
                type,
                null,
                null,
                expression,
                Generated.NEVER,
                Identity.NONE,
                null,
                List.of(),
                List.of(needs),
                List.of());
    }

    static ColumnDefinition generated(String name, Generated generated, String expression, String... columns) {
        return new ColumnDefinition(
                name,
                "integer",
                null,
                null,
                expression,
                generated,
                Identity.NONE,
                null,
                List.of(),
                List.of(),
                List.of(columns));
    }

    static ConstraintDefinition constraint(Kind kind, String name, String definition, String... columns) {
        return new ConstraintDefinition(name, kind, definition, List.of(columns), true, false, null, 14, List.of());
    }

    static ConstraintDefinition foreignKey(String name, String referenced) {
        return new ConstraintDefinition(
                name,
                Kind.FOREIGN_KEY,
                "FOREIGN KEY (r) REFERENCES public." + referenced + "(id)",
                List.of("r"),
                true,
                false,
                name(referenced),
                14,
                List.of());
    }

    static IndexDefinition index(String name, String tail, String... columns) {
        return new IndexDefinition(name, false, tail, List.of(columns), false, 14, List.of());
    }

    static TableDefinition table(String name, List<ColumnDefinition> columns, List<ConstraintDefinition> constraints) {
        return table(name, columns, constraints, List.of());
    }

    static TableDefinition table(
            String name,
            List<ColumnDefinition> columns,
            List<ConstraintDefinition> constraints,
            List<IndexDefinition> indexes) {
        return new TableDefinition(
                new Oid(1),
                name(name),
                List.of(),
                null,
                null,
                null,
                ReplicaIdentity.DEFAULT,
                List.of(),
                List.of(),
                columns,
                constraints,
                indexes);
    }

    static TableDefinition root(String name, String partitionKey, IndexDefinition... indexes) {
        return new TableDefinition(
                new Oid(1),
                name(name),
                List.of(),
                partitionKey,
                null,
                null,
                ReplicaIdentity.DEFAULT,
                List.of(),
                List.of(),
                List.of(column("id", "integer")),
                List.of(),
                List.of(indexes));
    }

    static TableDefinition partition(String name, String parent, String parentKey, IndexDefinition... indexes) {
        return new TableDefinition(
                new Oid(1),
                name(name),
                List.of(name(parent)),
                null,
                parentKey,
                "DEFAULT",
                ReplicaIdentity.DEFAULT,
                List.of(),
                List.of(),
                List.of(column("id", "integer")),
                List.of(),
                List.of(indexes));
    }

    static PublisherSchema schema(TableDefinition... tables) {
        return new PublisherSchema(List.of(tables), List.of(), List.of());
    }

    /** A target with schema public, and what a test adds. */
    static final class Target {
        private final Map<String, Boolean> schemas = new HashMap<>(Map.of("public", true));
        private final Map<QualifiedName, Relation> relations = new HashMap<>();
        private final Set<QualifiedName> types = new HashSet<>();
        private final Set<TargetInventory.TableConstraint> constraints = new HashSet<>();
        private final Set<String> objects = new HashSet<>();
        private int major = 18;
        private boolean mayCreateSchemas = true;

        static Target empty() {
            return new Target();
        }

        Target version(int version) {
            major = version;
            return this;
        }

        Target withoutRights() {
            schemas.put("public", false);
            mayCreateSchemas = false;
            return this;
        }

        Target has(String relation, char kind) {
            relations.put(name(relation), new Relation(kind, null, null));
            return this;
        }

        Target hasRoot(String relation, String partitionKey) {
            relations.put(name(relation), new Relation('p', null, partitionKey));
            return this;
        }

        Target hasIndex(String index, String table) {
            relations.put(name(index), new Relation('i', name(table), null));
            return this;
        }

        Target hasConstraint(String table, String constraint) {
            constraints.add(new TargetInventory.TableConstraint(name(table), constraint));
            return this;
        }

        Target hasType(String type) {
            types.add(name(type));
            return this;
        }

        Target has(ObjectIdentity object) {
            objects.add(object.key());
            return this;
        }

        TargetInventory inventory() {
            return new TargetInventory(major, "app", mayCreateSchemas, schemas, relations, types, constraints, objects);
        }
    }

    static List<String> statements(SchemaPlan plan) {
        List<String> statements = new ArrayList<>();
        for (Step step : plan.steps()) {
            step.statements().stream().map(Statement::sql).forEach(statements::add);
        }
        return statements;
    }

    static List<String> descriptions(SchemaPlan plan) {
        return plan.steps().stream().map(Step::description).toList();
    }

    static List<String> messages(SchemaPlan plan) {
        return plan.problems().stream().map(SchemaPlan.Problem::message).toList();
    }
}
