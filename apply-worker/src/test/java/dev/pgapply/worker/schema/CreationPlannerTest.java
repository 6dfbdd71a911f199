package dev.pgapply.worker.schema;

import static dev.pgapply.worker.schema.SchemaFixture.column;
import static dev.pgapply.worker.schema.SchemaFixture.constraint;
import static dev.pgapply.worker.schema.SchemaFixture.descriptions;
import static dev.pgapply.worker.schema.SchemaFixture.function;
import static dev.pgapply.worker.schema.SchemaFixture.generated;
import static dev.pgapply.worker.schema.SchemaFixture.index;
import static dev.pgapply.worker.schema.SchemaFixture.key;
import static dev.pgapply.worker.schema.SchemaFixture.messages;
import static dev.pgapply.worker.schema.SchemaFixture.name;
import static dev.pgapply.worker.schema.SchemaFixture.partition;
import static dev.pgapply.worker.schema.SchemaFixture.root;
import static dev.pgapply.worker.schema.SchemaFixture.schema;
import static dev.pgapply.worker.schema.SchemaFixture.statements;
import static dev.pgapply.worker.schema.SchemaFixture.table;
import static dev.pgapply.worker.schema.SchemaFixture.type;
import static dev.pgapply.worker.schema.SchemaFixture.withDefault;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.worker.schema.ColumnDefinition.Generated;
import dev.pgapply.worker.schema.ColumnDefinition.Identity;
import dev.pgapply.worker.schema.ColumnDefinition.NotNull;
import dev.pgapply.worker.schema.ConstraintDefinition.Kind;
import dev.pgapply.worker.schema.SchemaFixture.Target;
import dev.pgapply.worker.schema.TypeDefinition.Composite;
import dev.pgapply.worker.schema.TypeDefinition.Domain;
import dev.pgapply.worker.schema.TypeDefinition.Enumeration;
import dev.pgapply.worker.schema.TypeDefinition.NamedDefinition;
import dev.pgapply.worker.schema.TypeDefinition.Opaque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CreationPlannerTest {

    private static final ConstraintDefinition PRIMARY_KEY =
            constraint(Kind.PRIMARY_KEY, "t_pkey", "PRIMARY KEY (id)", "id");

    private static SchemaPlan plan(PublisherSchema schema, Target target) {
        return CreationPlanner.plan(schema, target.inventory(), Set.of());
    }

    @Test
    void a_table_comes_with_its_key_and_conditions_and_without_what_belongs_after_the_copy() {
        SchemaPlan plan = plan(
                schema(table(
                        "t",
                        List.of(key("id", "integer"), column("v \"x\"", "character varying(3)")),
                        List.of(
                                PRIMARY_KEY,
                                constraint(Kind.UNIQUE, "t_v", "UNIQUE (v)", "v \"x\""),
                                constraint(Kind.CHECK, "c", "CHECK ((id > 0))", "id")),
                        List.of(index("later", " USING btree (id)", "id")))),
                Target.empty());

        assertThat(statements(plan))
                .containsExactly(
                        "CREATE TABLE \"public\".\"t\" (\"id\" integer CONSTRAINT \"id_nn\" NOT NULL,"
                                + " \"v \"\"x\"\"\" character varying(3))",
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"t_pkey\" PRIMARY KEY (id)",
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"c\" CHECK ((id > 0))");
        assertThat(plan.steps()).singleElement().satisfies(step -> {
            assertThat(step.description()).isEqualTo("table public.t");
            assertThat(step.tables()).containsExactly(name("t"));
        });
        assertThat(plan.problems()).isEmpty();
    }

    @Test
    void a_schema_that_is_absent_is_made_once() {
        TableDefinition table = table("t", List.of(), List.of());
        TableDefinition other = new TableDefinition(
                new Oid(2),
                new QualifiedName("Sch.ema", "select"),
                List.of(),
                null,
                null,
                null,
                ReplicaIdentity.FULL,
                List.of("fillfactor=70", "user_catalog_table=a='b'"),
                List.of(),
                List.of(),
                List.of(),
                List.of());

        SchemaPlan plan = plan(schema(other, table), Target.empty());

        assertThat(statements(plan))
                .containsExactly(
                        "CREATE SCHEMA \"Sch.ema\"",
                        "CREATE TABLE \"Sch.ema\".\"select\" () WITH (\"fillfactor\" = '70', \"user_catalog_table\" = 'a=''b''')",
                        "ALTER TABLE ONLY \"Sch.ema\".\"select\" REPLICA IDENTITY FULL",
                        "CREATE TABLE \"public\".\"t\" ()");
    }

    @Test
    void types_are_made_before_what_they_are_part_of_and_those_that_are_there_are_used() {
        ObjectIdentity mood = type("public.mood", null);
        ObjectIdentity positive = type("public.positive", null);
        ObjectIdentity pair = type("public.pair", null);
        ObjectIdentity there = type("public.there", null);
        PublisherSchema schema = new PublisherSchema(
                List.of(table(
                        "t",
                        List.of(column("p", "public.pair[]", pair), column("x", "public.there", there)),
                        List.of())),
                List.of(
                        new TypeDefinition(
                                name("pair"),
                                pair,
                                new Composite(List.of(
                                        new NamedDefinition("a b", "public.positive"),
                                        new NamedDefinition("m", "public.mood[]"))),
                                List.of(positive, mood)),
                        new TypeDefinition(
                                name("positive"),
                                positive,
                                new Domain(
                                        "integer",
                                        null,
                                        "1",
                                        true,
                                        List.of(new NamedDefinition("p?", "CHECK ((VALUE > 0))"))),
                                List.of()),
                        new TypeDefinition(name("mood"), mood, new Enumeration(List.of("it's", "a\\b")), List.of()),
                        new TypeDefinition(name("there"), there, new Enumeration(List.of()), List.of())),
                List.of());

        SchemaPlan plan = plan(schema, Target.empty().has(there));

        assertThat(statements(plan))
                .containsExactly(
                        "CREATE DOMAIN \"public\".\"positive\" AS integer DEFAULT 1 NOT NULL CONSTRAINT \"p?\" CHECK ((VALUE > 0))",
                        "CREATE TYPE \"public\".\"mood\" AS ENUM ('it''s', E'a\\\\b')",
                        "CREATE TYPE \"public\".\"pair\" AS (\"a b\" public.positive, \"m\" public.mood[])",
                        "CREATE TABLE \"public\".\"t\" (\"p\" public.pair[], \"x\" public.there)");
        assertThat(plan.problems()).isEmpty();
    }

    @Test
    void a_column_of_a_type_that_nobody_can_make_stands_in_the_way_and_names_the_extension() {
        ObjectIdentity citext = type("public.citext", "citext");
        ObjectIdentity mail = type("public.mail", null);
        ObjectIdentity base = type("public.base", null);
        PublisherSchema schema = new PublisherSchema(
                List.of(table(
                        "t", List.of(column("m", "public.mail", mail), column("b", "public.base", base)), List.of())),
                List.of(
                        new TypeDefinition(
                                name("mail"),
                                mail,
                                new Domain("public.citext", null, null, false, List.of()),
                                List.of(citext)),
                        new TypeDefinition(name("citext"), citext, new Opaque("base type"), List.of()),
                        new TypeDefinition(name("base"), base, new Opaque("base type"), List.of())),
                List.of());

        SchemaPlan plan = plan(schema, Target.empty());

        assertThat(plan.obstacles())
                .extracting(SchemaPlan.Problem::message)
                .containsExactly(
                        "column \"m\" of table \"public.t\" cannot be created: it needs type public.citext of extension"
                                + " \"citext\", which the target does not have",
                        "column \"b\" of table \"public.t\" cannot be created: it needs type public.base, which the target does"
                                + " not have");
        assertThat(plan.obstacles().get(0).hint()).startsWith("CREATE EXTENSION \"citext\" there");
        assertThat(plan(schema, Target.empty().has(citext).has(base)).problems())
                .isEmpty();
    }

    @Test
    void a_default_that_the_target_cannot_have_is_left_out_and_a_generated_column_cannot_be() {
        ObjectIdentity f = function("public.f()");
        ColumnDefinition computed = new ColumnDefinition(
                "g",
                "integer",
                null,
                null,
                "public.f()",
                Generated.STORED,
                Identity.NONE,
                null,
                List.of(),
                List.of(f),
                List.of());

        SchemaPlan plan = plan(
                schema(table("t", List.of(withDefault("a", "integer", "public.f()", f), computed), List.of())),
                Target.empty());

        assertThat(statements(plan)).noneMatch(sql -> sql.contains("SET DEFAULT"));
        assertThat(messages(plan))
                .containsExactly(
                        "the default of column \"a\" of table \"public.t\" will not be created: it needs function public.f(),"
                                + " which the target does not have",
                        "column \"g\" of table \"public.t\" cannot be created: it needs function public.f(), which the target"
                                + " does not have");
        assertThat(plan.obstacles()).hasSize(1);
    }

    @Test
    void a_serial_column_gets_its_sequence_and_an_identity_column_its_own() {
        SequenceDefinition serial =
                new SequenceDefinition(name("t_id_seq"), "integer", 1, 1, 1, 10, 1, false, name("t"), "id", false);
        SequenceDefinition shared =
                new SequenceDefinition(name("shared"), "bigint", 5, -1, -9, 9, 2, true, null, null, false);
        SequenceDefinition own =
                new SequenceDefinition(name("own"), "bigint", 1, 1, 1, 99, 1, false, name("t"), "g", true);
        ColumnDefinition identity = new ColumnDefinition(
                "g",
                "bigint",
                null,
                new NotNull(null, false),
                null,
                Generated.NEVER,
                Identity.ALWAYS,
                null,
                List.of(),
                List.of(),
                List.of());
        ObjectIdentity usesSerial = new ObjectIdentity("sequence", "public", "public.t_id_seq", null, name("t_id_seq"));
        ObjectIdentity usesShared = new ObjectIdentity("sequence", "public", "public.shared", null, name("shared"));
        PublisherSchema schema = new PublisherSchema(
                List.of(table(
                        "t",
                        List.of(
                                withDefault("id", "integer", "nextval('public.t_id_seq'::regclass)", usesSerial),
                                withDefault("s", "bigint", "nextval('public.shared'::regclass)", usesShared),
                                identity),
                        List.of())),
                List.of(),
                List.of(serial, shared, own));

        assertThat(statements(plan(schema, Target.empty())))
                .containsExactly(
                        "CREATE SEQUENCE \"public\".\"t_id_seq\" AS integer START WITH 1 INCREMENT BY 1 MINVALUE 1 MAXVALUE 10"
                                + " CACHE 1 NO CYCLE",
                        "CREATE SEQUENCE \"public\".\"shared\" AS bigint START WITH 5 INCREMENT BY -1 MINVALUE -9 MAXVALUE 9"
                                + " CACHE 2 CYCLE",
                        "CREATE TABLE \"public\".\"t\" (\"id\" integer, \"s\" bigint, \"g\" bigint GENERATED ALWAYS AS IDENTITY"
                                + " (SEQUENCE NAME \"public\".\"own\" START WITH 1 INCREMENT BY 1 MINVALUE 1 MAXVALUE 99 CACHE 1"
                                + " NO CYCLE) NOT NULL)",
                        "ALTER SEQUENCE \"public\".\"t_id_seq\" OWNED BY \"public\".\"t\".\"id\"",
                        "ALTER TABLE ONLY \"public\".\"t\" ALTER COLUMN \"id\" SET DEFAULT nextval('public.t_id_seq'::regclass)",
                        "ALTER TABLE ONLY \"public\".\"t\" ALTER COLUMN \"s\" SET DEFAULT nextval('public.shared'::regclass)");
        assertThat(statements(plan(
                        schema,
                        Target.empty().has("t_id_seq", 'S').has("shared", 'S').has("own", 'r'))))
                .as("sequences that are there are used, a name that is taken is left to the server")
                .noneMatch(
                        sql -> sql.startsWith("CREATE SEQUENCE") || sql.contains("OWNED BY") || sql.contains("NAME"));
    }

    @Test
    void a_partitioned_table_and_its_partitions_are_one_step_parents_first() {
        SchemaPlan plan = plan(
                schema(partition("a", "sub", "LIST (id)"), root("ev", "RANGE (id)"), subPartitioned()), Target.empty());

        assertThat(descriptions(plan)).containsExactly("partitioned table public.ev with 2 partitions");
        assertThat(statements(plan))
                .containsExactly(
                        "CREATE TABLE \"public\".\"ev\" (\"id\" integer) PARTITION BY RANGE (id)",
                        "CREATE TABLE \"public\".\"sub\" (\"id\" integer) PARTITION BY LIST (id)",
                        "ALTER TABLE ONLY \"public\".\"ev\" ATTACH PARTITION \"public\".\"sub\" FOR VALUES FROM (1) TO (2)",
                        "CREATE TABLE \"public\".\"a\" (\"id\" integer)",
                        "ALTER TABLE ONLY \"public\".\"sub\" ATTACH PARTITION \"public\".\"a\" DEFAULT");
    }

    private static TableDefinition subPartitioned() {
        return new TableDefinition(
                new Oid(1),
                name("sub"),
                List.of(name("ev")),
                "LIST (id)",
                "RANGE (id)",
                "FOR VALUES FROM (1) TO (2)",
                ReplicaIdentity.DEFAULT,
                List.of(),
                List.of(),
                List.of(column("id", "integer")),
                List.of(),
                List.of());
    }

    @Test
    void a_partition_alone_joins_an_equal_root_and_stays_a_table_beside_another_one() {
        PublisherSchema schema = schema(partition("a", "ev", "LIST (id)"));

        assertThat(statements(plan(schema, Target.empty().hasRoot("ev", "LIST (id)"))))
                .contains("ALTER TABLE ONLY \"public\".\"ev\" ATTACH PARTITION \"public\".\"a\" DEFAULT");
        assertThat(statements(plan(schema, Target.empty().hasRoot("ev", "HASH (id)"))))
                .noneMatch(sql -> sql.contains("ATTACH"));
        assertThat(statements(plan(schema, Target.empty().has("ev", 'r')))).noneMatch(sql -> sql.contains("ATTACH"));
    }

    @Test
    void an_older_target_gets_stored_columns_and_no_names_of_not_null() {
        SchemaPlan plan = plan(
                schema(table(
                        "t",
                        List.of(key("id", "integer"), generated("g", Generated.VIRTUAL, "(id * 2)", "id")),
                        List.of())),
                Target.empty().version(17));

        assertThat(statements(plan))
                .containsExactly(
                        "CREATE TABLE \"public\".\"t\" (\"id\" integer NOT NULL, \"g\" integer GENERATED ALWAYS AS"
                                + " ((id * 2)) STORED)");
        assertThat(messages(plan)).singleElement().asString().contains("becomes stored");
        assertThat(plan.obstacles()).isEmpty();
    }

    @Test
    void a_key_whose_clauses_the_target_does_not_know_stands_in_the_way() {
        ConstraintDefinition temporal = new ConstraintDefinition(
                "t_pkey",
                Kind.PRIMARY_KEY,
                "PRIMARY KEY (id, during WITHOUT OVERLAPS)",
                List.of("id"),
                true,
                false,
                null,
                18,
                List.of());
        PublisherSchema schema = schema(table("t", List.of(key("id", "integer")), List.of(temporal)));

        assertThat(plan(schema, Target.empty().version(18)).problems()).isEmpty();
        assertThat(plan(schema, Target.empty().version(17)).obstacles())
                .extracting(SchemaPlan.Problem::message)
                .containsExactly(
                        "primary key \"t_pkey\" of table \"public.t\" cannot be created: it needs PostgreSQL 18, the"
                                + " target runs 17");
    }

    @Test
    void names_that_are_taken_and_rights_that_are_missing_stand_in_the_way() {
        PublisherSchema schema = schema(table("t", List.of(key("id", "integer")), List.of(PRIMARY_KEY)));

        assertThat(plan(schema, Target.empty().hasIndex("t_pkey", "other")).obstacles())
                .extracting(SchemaPlan.Problem::message)
                .containsExactly(
                        "primary key \"t_pkey\" of table \"public.t\" cannot be created: another relation of the"
                                + " target has that name in the same schema");
        assertThat(plan(schema, Target.empty().hasType("t")).obstacles())
                .extracting(SchemaPlan.Problem::message)
                .containsExactly("table \"public.t\" cannot be created: the target has a type of that name");
        assertThat(plan(schema, Target.empty().withoutRights()).obstacles())
                .extracting(SchemaPlan.Problem::message)
                .containsExactly("role \"app\" may not create anything in schema \"public\" of the target");
    }

    @Test
    void only_the_sent_columns_are_made_and_what_speaks_of_no_other() {
        PublisherSchema schema = schema(table(
                        "t",
                        List.of(
                                key("id", "integer"),
                                key("secret", "text"),
                                generated("g", Generated.STORED, "(id * 2)", "id"),
                                generated("h", Generated.STORED, "length(secret)", "secret")),
                        List.of(PRIMARY_KEY, constraint(Kind.CHECK, "c", "CHECK ((secret <> ''::text))", "secret"))))
                .withColumns(Map.of(name("t"), Set.of("id")));

        assertThat(statements(plan(schema, Target.empty())))
                .containsExactly(
                        "CREATE TABLE \"public\".\"t\" (\"id\" integer CONSTRAINT \"id_nn\" NOT NULL, \"g\" integer GENERATED"
                                + " ALWAYS AS ((id * 2)) STORED)",
                        "ALTER TABLE \"public\".\"t\" ADD CONSTRAINT \"t_pkey\" PRIMARY KEY (id)");
    }
}
