package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.it.support.DatabasePair;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How the dialect describes the target's tables, and in which role its sessions run. */
class TargetDescriptionIT {

    private static TargetTable describe(DialectTarget target, String name) {
        return Objects.requireNonNull(target.target().describe(new QualifiedName("public", name)), name);
    }

    @Test
    void columns_have_their_types_and_say_where_bytes_decide_equality() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.target()
                    .execute(
                            "CREATE SCHEMA \"My app\"",
                            "CREATE TYPE \"My app\".mood AS ENUM ('a')",
                            "CREATE DOMAIN d AS varchar(3)",
                            "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                            "CREATE TABLE t(gone int, id int PRIMARY KEY, c char(5), v varchar(7), ci text COLLATE ci, n numeric,"
                                    + " m \"My app\".mood, d d, b bit(3), g int GENERATED ALWAYS AS (id) STORED,"
                                    + " i bigint GENERATED ALWAYS AS IDENTITY, nn text NOT NULL DEFAULT 'x')",
                            "ALTER TABLE t DROP gone");
            try (DialectTarget target = new DialectTarget(pair.target(), DialectTarget.Path.FAST)) {
                TargetTable table = describe(target, "t");

                assertThat(table.columns())
                        .extracting(TargetColumn::name, TargetColumn::typeName, TargetColumn::byteEquality)
                        .containsExactly(
                                tuple("id", "integer", true),
                                tuple("c", "bpchar", false),
                                tuple("v", "character varying", true),
                                tuple("ci", "text", false),
                                tuple("n", "numeric", false),
                                tuple("m", "\"My app\".mood", true),
                                tuple("d", "character varying", false),
                                tuple("b", "\"bit\"", false),
                                tuple("g", "integer", true),
                                tuple("i", "bigint", true),
                                tuple("nn", "text", true));
                assertThat(table.identity()).containsExactly("id");
                assertThat(Objects.requireNonNull(table.column("g")).generated())
                        .isTrue();
                assertThat(Objects.requireNonNull(table.column("i")).identity())
                        .isEqualTo(TargetColumn.IdentityKind.ALWAYS);
                assertThat(Objects.requireNonNull(table.column("nn")).notNull()).isTrue();
                assertThat(Objects.requireNonNull(table.column("m")).enumType()).isTrue();
                assertThat(describe(target, "t")).isEqualTo(table);
                assertThat(target.target().describe(new QualifiedName("public", "T")))
                        .isNull();
            }
        }
    }

    @Test
    void the_identity_is_the_replica_identity_index_else_a_key_that_is_not_deferrable() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.target()
                    .execute(
                            "CREATE TABLE a(id int PRIMARY KEY, u int NOT NULL, w int NOT NULL, UNIQUE (w, u))",
                            "ALTER TABLE a REPLICA IDENTITY USING INDEX a_w_u_key",
                            "CREATE TABLE b(id int PRIMARY KEY DEFERRABLE)",
                            "CREATE TABLE c(id int, x int, PRIMARY KEY (x, id) INCLUDE (y), y int)",
                            "ALTER TABLE c REPLICA IDENTITY FULL",
                            "CREATE TABLE p(id int PRIMARY KEY) PARTITION BY RANGE (id)",
                            "CREATE VIEW v AS SELECT 1 AS id");
            try (DialectTarget target = new DialectTarget(pair.target(), DialectTarget.Path.FAST)) {
                assertThat(describe(target, "a").identity()).containsExactly("w", "u");
                assertThat(describe(target, "b").identity()).isNull();
                assertThat(describe(target, "c").identity()).containsExactly("x", "id");
                assertThat(describe(target, "p").identity()).containsExactly("id");
                assertThat(describe(target, "p").kind()).isEqualTo(TargetTable.Kind.PARTITIONED);
                assertThat(describe(target, "v").kind()).isEqualTo(TargetTable.Kind.OTHER);
            }
        }
    }

    @Test
    void triggers_and_rules_that_fire_are_named() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.target()
                    .execute(
                            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                            "CREATE TABLE par(id int PRIMARY KEY)",
                            "CREATE TABLE t(id int REFERENCES par) PARTITION BY RANGE (id)",
                            "CREATE TABLE t1 PARTITION OF t DEFAULT",
                            "CREATE TRIGGER plain BEFORE INSERT ON t1 FOR EACH ROW EXECUTE FUNCTION f()",
                            "CREATE TRIGGER always BEFORE INSERT ON t1 FOR EACH ROW EXECUTE FUNCTION f()",
                            "ALTER TABLE t1 ENABLE ALWAYS TRIGGER always",
                            "CREATE TRIGGER stmt AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION f()",
                            "ALTER TABLE t ENABLE REPLICA TRIGGER stmt",
                            "CREATE TRIGGER off BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
                            "ALTER TABLE t DISABLE TRIGGER off",
                            "CREATE TABLE r(id int)",
                            "CREATE RULE rule AS ON INSERT TO r DO ALSO NOTIFY x",
                            "ALTER TABLE r ENABLE ALWAYS RULE rule");
            try (DialectTarget target = new DialectTarget(pair.target(), DialectTarget.Path.FAST)) {
                assertThat(target.target().runsAsReplica()).isTrue();
                assertThat(describe(target, "t").triggers())
                        .isEqualTo(new TargetTable.Triggers(List.of("always"), List.of("stmt")));
                assertThat(describe(target, "r").triggers())
                        .isEqualTo(new TargetTable.Triggers(List.of(), List.of("rule")));
                assertThat(describe(target, "par").triggers()).isEqualTo(TargetTable.Triggers.NONE);
            }
        }
    }

    @Test
    void a_role_that_may_not_be_replica_sees_ordinary_triggers_and_foreign_keys() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String role = pair.name() + "_owner";
            pair.target()
                    .execute(
                            "CREATE ROLE " + role + " LOGIN PASSWORD 'it-S3cret-0f-superuser'",
                            "GRANT CREATE ON SCHEMA public TO " + role,
                            "SET ROLE " + role + "; CREATE TABLE par(id int PRIMARY KEY);"
                                    + " CREATE TABLE chi(p int CONSTRAINT chi_p REFERENCES par ON DELETE CASCADE, u int UNIQUE DEFERRABLE);"
                                    + " CREATE TABLE free(id int PRIMARY KEY, u int UNIQUE DEFERRABLE);"
                                    + " CREATE TABLE guarded(id int); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;"
                                    + " ALTER TABLE guarded FORCE ROW LEVEL SECURITY; RESET ROLE");
            try (DialectTarget target = new DialectTarget(pair.target(), DialectTarget.Path.FAST, role)) {
                assertThat(target.target().runsAsReplica()).isFalse();
                assertThat(describe(target, "par").triggers().row()).containsExactly("chi_p");
                assertThat(describe(target, "chi").triggers().row()).containsExactly("chi_p");
                assertThat(describe(target, "free").triggers()).isEqualTo(TargetTable.Triggers.NONE);
                assertThat(describe(target, "guarded").rowSecurity()).isTrue();
                assertThat(describe(target, "par").rowSecurity()).isFalse();
            }
            pair.target().execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }

    @Test
    void a_statement_trigger_that_would_fire_stops_the_relation() {
        try (DialectFixture both = DialectFixture.with(false, "CREATE TABLE s(id int PRIMARY KEY)")) {
            both.onTargets(
                    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                    "CREATE TRIGGER loud AFTER INSERT ON s FOR EACH STATEMENT EXECUTE FUNCTION f()",
                    "ALTER TABLE s ENABLE ALWAYS TRIGGER loud");

            assertThatThrownBy(() -> both.replicate("INSERT INTO s VALUES (1)"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("\"loud\"")
                    .extracting(e -> ((ApplyException) e).hint())
                    .asString()
                    .contains("DISABLE TRIGGER \"loud\"");
        }
    }

    @Test
    void many_tables_are_described_as_each_is_by_itself_and_what_is_absent_is_left_out() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.target()
                    .execute(
                            "CREATE SCHEMA other",
                            "CREATE TABLE t(id int PRIMARY KEY, v text UNIQUE)",
                            "CREATE TABLE other.t(v text, id bigint, UNIQUE (id, v))",
                            "CREATE TABLE watched(id int)",
                            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                            "CREATE TRIGGER g BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION f()",
                            "ALTER TABLE watched ENABLE ALWAYS TRIGGER g",
                            "CREATE RULE r AS ON DELETE TO watched DO INSTEAD NOTHING",
                            "ALTER TABLE watched ENABLE ALWAYS RULE r",
                            "CREATE TABLE none()");
            try (DialectTarget target = new DialectTarget(pair.target(), DialectTarget.Path.FAST)) {
                Map<QualifiedName, TargetTable> alone = new HashMap<>();
                for (QualifiedName name : List.of(
                        new QualifiedName("public", "t"),
                        new QualifiedName("other", "t"),
                        new QualifiedName("public", "watched"),
                        new QualifiedName("public", "none"))) {
                    alone.put(name, Objects.requireNonNull(target.target().describe(name)));
                }
                List<QualifiedName> asked = new ArrayList<>(alone.keySet());
                asked.add(new QualifiedName("other", "watched"));

                assertThat(target.target().describe(asked)).isEqualTo(alone);
            }
        }
    }
}
