package dev.pgapply.worker.schema;

import static dev.pgapply.worker.schema.SchemaFixture.column;
import static dev.pgapply.worker.schema.SchemaFixture.constraint;
import static dev.pgapply.worker.schema.SchemaFixture.foreignKey;
import static dev.pgapply.worker.schema.SchemaFixture.index;
import static dev.pgapply.worker.schema.SchemaFixture.messages;
import static dev.pgapply.worker.schema.SchemaFixture.name;
import static dev.pgapply.worker.schema.SchemaFixture.partition;
import static dev.pgapply.worker.schema.SchemaFixture.root;
import static dev.pgapply.worker.schema.SchemaFixture.schema;
import static dev.pgapply.worker.schema.SchemaFixture.statements;
import static dev.pgapply.worker.schema.SchemaFixture.table;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.worker.schema.ConstraintDefinition.Kind;
import dev.pgapply.worker.schema.DeferredPlanner.Part;
import dev.pgapply.worker.schema.SchemaFixture.Target;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DeferredPlannerTest {

    private static final TableDefinition TABLE = table(
            "t",
            List.of(column("id", "integer"), column("r", "integer")),
            List.of(
                    constraint(Kind.PRIMARY_KEY, "t_pkey", "PRIMARY KEY (id)", "id"),
                    constraint(Kind.CHECK, "early", "CHECK ((id > 0))", "id"),
                    foreignKey("t_fk", "u"),
                    new ConstraintDefinition(
                            "late",
                            Kind.CHECK,
                            "CHECK ((r > 0)) NOT VALID",
                            List.of("r"),
                            false,
                            false,
                            null,
                            14,
                            List.of()),
                    constraint(Kind.UNIQUE, "t_u", "UNIQUE (r)", "r")),
            List.of(index("t \"i\"", " USING btree (lower(r)) WHERE (r > 1)", "r")));

    private static SchemaPlan plan(Target target, String... filtered) {
        return DeferredPlanner.plan(
                schema(TABLE),
                target.has("t", 'r').inventory(),
                Set.of(filtered).stream().map(SchemaFixture::name).collect(Collectors.toSet()),
                Part.ALL);
    }

    @Test
    void indexes_come_first_and_foreign_keys_last_and_nothing_that_came_with_the_table() {
        assertThat(statements(plan(Target.empty().has("u", 'r'))))
                .containsExactly(
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"t_u\" UNIQUE (r)",
                        "CREATE INDEX \"t \"\"i\"\"\" ON \"public\".\"t\" USING btree (lower(r)) WHERE (r > 1)",
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"late\" CHECK ((r > 0)) NOT VALID",
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"t_fk\" FOREIGN KEY (r) REFERENCES public.u(id)");
    }

    @Test
    void foreign_keys_can_wait() {
        SchemaPlan plan = DeferredPlanner.plan(
                schema(TABLE),
                Target.empty().has("u", 'r').has("t", 'r').inventory(),
                Set.of(),
                Part.WITHOUT_FOREIGN_KEYS);

        assertThat(statements(plan)).hasSize(3).noneMatch(sql -> sql.contains("FOREIGN KEY"));
    }

    @Test
    void what_is_there_by_name_is_done() {
        Target target = Target.empty()
                .has("u", 'r')
                .hasIndex("t \"i\"", "t")
                .hasConstraint("t", "t_u")
                .hasIndex("t_u", "t")
                .hasConstraint("t", "late")
                .hasConstraint("other", "t_fk");

        assertThat(statements(plan(target))).singleElement().asString().contains("t_fk");
    }

    @Test
    void a_foreign_key_to_a_table_that_is_absent_or_comes_in_part_is_left_out() {
        assertThat(messages(plan(Target.empty())))
                .containsExactly("foreign key \"t_fk\" of table \"public.t\" will not be created: it references table"
                        + " \"public.u\", which the target does not have");
        SchemaPlan part = plan(Target.empty().has("u", 'r'), "u");
        assertThat(messages(part))
                .containsExactly(
                        "foreign key \"t_fk\" of table \"public.t\" will not be created: only some rows of table"
                                + " \"public.u\" are published");
        assertThat(statements(part)).noneMatch(sql -> sql.contains("t_fk"));
    }

    @Test
    void an_index_whose_name_another_table_has_is_left_out() {
        SchemaPlan plan = plan(Target.empty().has("u", 'r').hasIndex("t \"i\"", "other"));

        assertThat(messages(plan)).singleElement().asString().contains("another relation of the target has that name");
        assertThat(statements(plan)).noneMatch(sql -> sql.contains("CREATE INDEX"));
    }

    @Test
    void partitions_get_their_indexes_before_the_root_which_takes_them_up() {
        SchemaPlan plan = DeferredPlanner.plan(
                schema(
                        root("ev", "LIST (id)", index("ev_id", " USING btree (id)", "id")),
                        partition("leaf", "ev", "LIST (id)", index("leaf_id", " USING btree (id)", "id"))),
                Target.empty().hasRoot("ev", "LIST (id)").has("leaf", 'r').inventory(),
                Set.of(),
                Part.ALL);

        assertThat(statements(plan))
                .containsExactly(
                        "CREATE INDEX \"leaf_id\" ON \"public\".\"leaf\" USING btree (id)",
                        "CREATE INDEX \"ev_id\" ON \"public\".\"ev\" USING btree (id)");
        assertThat(plan.steps().get(0).tables()).containsExactly(name("leaf"));
    }
}
