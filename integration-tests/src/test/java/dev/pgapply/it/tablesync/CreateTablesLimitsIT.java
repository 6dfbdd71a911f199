package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.worker.preflight.Finding;
import dev.pgapply.worker.preflight.Finding.Severity;
import dev.pgapply.worker.preflight.Preflight;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code create_tables: missing} cannot make, or makes only in part: said before by a check, and by the start. */
class CreateTablesLimitsIT {

    private static List<String> lines(List<Finding> findings, Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .map(Finding::toString)
                .toList();
    }

    private static List<String> firstStart(DatabasePair pair) {
        try (FirstStart start = FirstStart.of(FirstStart.creatingTables(pair))) {
            assertThat(start.run().consistentPoint()).isNotNull();
            return start.stats().creation().notCreated();
        }
    }

    @Test
    void a_check_says_what_will_be_created_and_that_is_no_error() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher().execute("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE \"U\" (id int PRIMARY KEY)");
            pair.publishAll().target().execute("CREATE TABLE t (id int PRIMARY KEY)");

            List<Finding> findings = Preflight.run(FirstStart.creatingTables(pair));

            assertThat(lines(findings, Severity.ERROR)).isEmpty();
            assertThat(lines(findings, Severity.WARNING)).isEmpty();
            assertThat(lines(findings, Severity.OK))
                    .contains("ok: table \"public.U\" is not on the target and will be created")
                    .noneMatch(line -> line.contains("public.t\""));
            assertThat(pair.target()
                            .isTrue("SELECT to_regclass('\"U\"') IS NULL AND to_regnamespace('pgapply') IS NULL"))
                    .isTrue();
        }
    }

    @Test
    void what_the_target_lacks_is_named_with_the_remedy_and_nothing_is_created() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE EXTENSION citext",
                            "CREATE DOMAIN mail AS citext",
                            "CREATE FUNCTION next() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                            "CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2'",
                            "CREATE TABLE good (id int PRIMARY KEY DEFAULT next(), CHECK (twice(id) > 0))",
                            "CREATE INDEX good_twice ON good (twice(id))",
                            "CREATE TABLE mails (id int PRIMARY KEY, m mail[], c citext)",
                            "CREATE TABLE computed (id int PRIMARY KEY, t int GENERATED ALWAYS AS (twice(id)) STORED)");
            pair.publishAll();
            String lacks = ", which the target does not have (hint: ";

            List<Finding> findings = Preflight.run(FirstStart.creatingTables(pair));

            assertThat(lines(findings, Severity.ERROR))
                    .containsExactlyInAnyOrder(
                            "error: column \"m\" of table \"public.mails\" cannot be created: it needs type public.citext of"
                                    + " extension \"citext\"" + lacks
                                    + "CREATE EXTENSION \"citext\" there, in the same schema as on the publisher)",
                            "error: column \"c\" of table \"public.mails\" cannot be created: it needs type public.citext of"
                                    + " extension \"citext\"" + lacks
                                    + "CREATE EXTENSION \"citext\" there, in the same schema as on the publisher)",
                            "error: column \"t\" of table \"public.computed\" cannot be created: it needs function"
                                    + " public.twice(integer)" + lacks + "create it there first)");
            assertThat(lines(findings, Severity.WARNING))
                    .containsExactlyInAnyOrder(
                            "warning: the default of column \"id\" of table \"public.good\" will not be created: it needs function"
                                    + " public.next()" + lacks + "create it there first)",
                            "warning: check constraint \"good_id_check\" of table \"public.good\" will not be created: it needs"
                                    + " function public.twice(integer)" + lacks + "create it there first)",
                            "warning: index \"good_twice\" of table \"public.good\" will not be created: it needs function"
                                    + " public.twice(integer)" + lacks + "create it there first)");
            try (FirstStart start = FirstStart.of(FirstStart.creatingTables(pair))) {
                assertThatThrownBy(start::run)
                        .isInstanceOf(ApplyException.class)
                        .hasMessageContaining("extension \"citext\"");
            }
            assertThat(pair.target()
                            .number("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"))
                    .isZero();

            pair.target()
                    .execute(
                            "CREATE EXTENSION citext",
                            "CREATE FUNCTION next() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                            "CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2'");
            assertThat(firstStart(pair)).isEmpty();
            SchemaFacts.assertSame(pair);
        }
    }

    @Test
    void a_role_that_may_not_create_is_told_which_grant_is_missing() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String role = RunOptions.uniqueName("engine");
            pair.publisher().execute("CREATE SCHEMA own", "CREATE TABLE t (id int)", "CREATE TABLE own.t (id int)");
            pair.publishAll()
                    .target()
                    .execute(
                            "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
                            "CREATE ROLE " + role + " LOGIN",
                            "CREATE SCHEMA pgapply AUTHORIZATION " + role);

            List<Finding> findings = Preflight.run(FirstStart.creatingTables(pair, role));

            assertThat(lines(findings, Severity.ERROR))
                    .containsExactlyInAnyOrder(
                            "error: role \"" + role
                                    + "\" may not create anything in schema \"public\" of the target (hint:"
                                    + " GRANT CREATE ON SCHEMA \"public\" TO \"" + role + "\" there)",
                            "error: role \"" + role
                                    + "\" may not create schema \"own\" in the target (hint: GRANT CREATE ON"
                                    + " DATABASE … TO \"" + role
                                    + "\" there, or create the schema and grant CREATE on it)");
            pair.target().execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }

    @Test
    void only_the_published_columns_are_made_and_no_foreign_key_that_the_rows_could_not_meet() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE TABLE local (id int PRIMARY KEY)",
                            "CREATE TABLE part (id int PRIMARY KEY)",
                            "CREATE TABLE t (id int PRIMARY KEY, a int, secret text NOT NULL, twice int GENERATED ALWAYS AS (a * 2)"
                                    + " STORED, s int REFERENCES part, l int REFERENCES local, CHECK (secret <> ''), CHECK (a > 0))",
                            "CREATE INDEX t_secret ON t (lower(secret))",
                            "CREATE INDEX t_a ON t (a) WHERE a > 1",
                            "INSERT INTO local VALUES (1)",
                            "INSERT INTO part VALUES (1), (20)",
                            "INSERT INTO t (id, a, secret, s, l) VALUES (1, 1, 'x', 20, 1)",
                            "CREATE PUBLICATION pb FOR TABLE t (id, a, s, l), part WHERE (id < 10)");

            List<String> notCreated = firstStart(pair);

            assertThat(notCreated)
                    .containsExactlyInAnyOrder(
                            "foreign key \"t_s_fkey\" of table \"public.t\" will not be created: only some rows of table"
                                    + " \"public.part\" are published",
                            "foreign key \"t_l_fkey\" of table \"public.t\" will not be created: it references table"
                                    + " \"public.local\", which the target does not have (hint: publish that table too, or"
                                    + " create it there)");
            assertThat(pair.target()
                            .column("SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"))
                    .containsExactly("id", "a", "twice", "s", "l");
            assertThat(pair.target().column("SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 't'::regclass"))
                    .containsExactlyInAnyOrder("t_pkey", "t_a");
            assertThat(
                            pair.target()
                                    .column(
                                            "SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'c'"))
                    .containsExactly("t_a_check");
            assertThat(pair.target().column("SELECT twice FROM t")).containsExactly("2");
        }
    }

    @Test
    void an_index_that_the_rows_do_not_allow_is_told_with_its_statement_and_stops_nothing() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher()
                    .execute(
                            "CREATE TABLE parent (id int PRIMARY KEY)",
                            "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent, v int UNIQUE)",
                            "INSERT INTO parent VALUES (1)",
                            "INSERT INTO child VALUES (1, 1, 1)",
                            "CREATE PUBLICATION pb FOR TABLE child");
            pair.target().execute("CREATE TABLE parent (id int PRIMARY KEY)");

            List<String> notCreated = firstStart(pair);

            assertThat(notCreated)
                    .singleElement()
                    .asString()
                    .startsWith(
                            "foreign key \"child_p_fkey\" of table \"public.child\" was not created: insert or update on"
                                    + " table \"child\" violates foreign key constraint \"child_p_fkey\"")
                    .contains("ALTER TABLE \"public\".\"child\" ADD CONSTRAINT \"child_p_fkey\" FOREIGN KEY (p)"
                            + " REFERENCES public.parent(id)");
            assertThat(pair.target().isTrue("SELECT to_regclass('child_v_key') IS NOT NULL"))
                    .isTrue();
        }
    }

    @Test
    void a_root_that_is_published_by_itself_brings_its_partitions_and_one_that_is_there_is_left_alone() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String root = "(id int, d date, PRIMARY KEY (id, d)) PARTITION BY RANGE (d)";
            pair.publisher()
                    .execute(
                            "CREATE TABLE ev " + root,
                            "CREATE TABLE ev20 PARTITION OF ev FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')",
                            "CREATE TABLE other " + root,
                            "CREATE TABLE other20 PARTITION OF other FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')",
                            "INSERT INTO ev VALUES (1, '2020-05-05')",
                            "INSERT INTO other VALUES (1, '2020-05-05')",
                            "CREATE PUBLICATION pb FOR TABLE ev, other WITH (publish_via_partition_root = true)");
            pair.target().execute("CREATE TABLE other " + root, "CREATE TABLE rest PARTITION OF other DEFAULT");

            assertThat(firstStart(pair)).isEmpty();

            TableComparison.of(pair).assertSame("ev", "other", "ev20");
            assertThat(pair.target().isTrue("SELECT to_regclass('other20') IS NULL"))
                    .isTrue();
            assertThat(pair.target().column("SELECT tableoid::regclass FROM other"))
                    .containsExactly("rest");
        }
    }

    @Test
    void a_partition_that_is_published_by_itself_joins_an_equal_root_that_is_there() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String root = "CREATE TABLE ev (id int, d date, PRIMARY KEY (id, d)) PARTITION BY RANGE (d)";
            pair.onBoth(root);
            pair.publisher()
                    .execute(
                            "CREATE TABLE ev20 PARTITION OF ev FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')",
                            "INSERT INTO ev VALUES (1, '2020-05-05')",
                            "CREATE PUBLICATION pb FOR TABLE ev");

            assertThat(firstStart(pair)).isEmpty();

            TableComparison.of(pair).assertSame("ev", "ev20");
        }
    }

    private static final String[] NEWER = {
        "CREATE TABLE base (id int PRIMARY KEY)",
        "CREATE TABLE n (id int PRIMARY KEY, v int GENERATED ALWAYS AS (id * 2) VIRTUAL, a int, c int,"
                + " b int CONSTRAINT \"b!\" NOT NULL NO INHERIT, r int CONSTRAINT n_r REFERENCES base NOT ENFORCED,"
                + " CONSTRAINT n_a UNIQUE NULLS NOT DISTINCT (a), CONSTRAINT ne CHECK (a > 5) NOT ENFORCED)",
        "CREATE UNIQUE INDEX n_b ON n (b) NULLS NOT DISTINCT",
        "INSERT INTO n (id, a, b, r) VALUES (1, 1, 1, 7)",
        "ALTER TABLE n ADD CONSTRAINT c_later NOT NULL c NOT VALID"
    };

    @Test
    void what_postgresql_18_has_of_its_own_arrives_on_an_18() {
        try (DatabasePair pair = DatabasePair.shared(18, 18)) {
            pair.publisher().execute(NEWER);
            pair.publisher()
                    .execute(
                            "CREATE TABLE w (id int4range, during daterange, PRIMARY KEY (id, during WITHOUT OVERLAPS))");
            pair.publishAll();

            assertThat(firstStart(pair)).isEmpty();

            SchemaFacts.assertSame(pair);
            String notNull = "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)"
                    + " FROM pg_constraint WHERE contype = 'n' AND connamespace = 'public'::regnamespace ORDER BY 1";
            assertThat(pair.target().column(notNull)).isEqualTo(pair.publisher().column(notNull));
            TableComparison.of(pair).assertSame("n");
        }
    }

    @Test
    void what_an_older_target_does_not_know_is_left_out_and_named() {
        try (DatabasePair pair = DatabasePair.shared(18, 14)) {
            pair.publisher().execute(NEWER);
            pair.publishAll();
            String older = " of table \"public.n\" will not be created: it needs PostgreSQL ";

            assertThat(firstStart(pair))
                    .containsExactlyInAnyOrder(
                            "column \"v\" of table \"public.n\" is virtual on the publisher and becomes stored: the target runs"
                                    + " PostgreSQL 14",
                            "unique constraint \"n_a\"" + older + "15, the target runs 14",
                            "check constraint \"ne\"" + older + "18, the target runs 14",
                            "not-null constraint \"c_later\"" + older + "18, the target runs 14",
                            "foreign key \"n_r\"" + older + "18, the target runs 14",
                            "index \"n_b\"" + older + "15, the target runs 14");
            assertThat(pair.target().column("SELECT n::text FROM n")).containsExactly("(1,2,1,,1,7)");
        }
    }

    @Test
    void a_kind_of_relation_that_is_no_table_is_not_absent() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher().execute("CREATE TABLE v (id int PRIMARY KEY)");
            pair.publishAll().target().execute("CREATE VIEW v AS SELECT 1 AS id");

            assertThat(firstStart(pair)).isEmpty();

            assertThat(pair.target().column("SELECT error FROM pgapply.subscription_rel WHERE state = 'i'"))
                    .singleElement()
                    .asString()
                    .contains("cannot use relation \"public.v\" as logical replication target");
            assertThat(pair.target().isTrue("SELECT relkind = 'v' FROM pg_class WHERE oid = 'v'::regclass"))
                    .isTrue();
        }
    }
}
