package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.it.support.DatabasePair;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a dialect has to do with each kind of change, by both paths. */
class DialectContractIT {

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void inserts_updates_and_deletes_arrive_with_nulls_and_odd_bytes(int version) {
        try (DialectFixture both = DialectFixture.with(
                DatabasePair.shared(version, version),
                false,
                List.of("CREATE TABLE t (id bigint PRIMARY KEY, n int, s smallint, v text)"),
                List.of())) {
            both.replicate(
                    "INSERT INTO t VALUES (1, NULL, -1, E'tab\\tback\\\\slash\\nnew\\rline'), (2, -2147483648, 32767, ''),"
                            + " (-9223372036854775808, 2147483647, -32768, '\\.'), (9223372036854775807, 0, NULL, NULL), (5, 5, 5, '\\N')",
                    "INSERT INTO t SELECT g, g, 1, E'\\\\' || g FROM generate_series(1000, 1500) g");
            both.replicate(
                    "UPDATE t SET v = NULL, n = 7 WHERE id = 1",
                    "UPDATE t SET n = n WHERE id = 2",
                    "DELETE FROM t WHERE id < 0",
                    "UPDATE t SET v = v || 'é€😀' WHERE id >= 1400",
                    "DELETE FROM t WHERE id BETWEEN 1000 AND 1099");
            both.assertSame("t");
            // enough rows for COPY
            both.replicate(
                    "INSERT INTO t SELECT g, NULL, 1, chr(1 + g % 127) || E'\\\\' || chr(9 + g % 5) || E'\\\\.' || g"
                            + " FROM generate_series(10001, 13000) g");

            both.assertSame("t");
            assertThat(both.fast().fastBatches()).isEqualTo(3);
            assertThat(both.fast().missing()).isZero();
        }
    }

    @Test
    void names_are_quoted_everywhere() {
        String table = "\"Sch.ema\".\"select\"";
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE SCHEMA \"Sch.ema\"",
                "CREATE TABLE " + table
                        + "(\"order\" int PRIMARY KEY, \"Group By\" text, \"\"\"q\"\"\" text, \"a.b\" text, \"%s $1 ?\" text)",
                "CREATE TABLE \"Item\"(id int PRIMARY KEY, v text)",
                "CREATE TABLE item(id int PRIMARY KEY, v text)",
                "CREATE TABLE \"it's ? ; --\"(\"?\" text, \";\" text)",
                "ALTER TABLE \"it's ? ; --\" REPLICA IDENTITY FULL")) {
            both.replicate(
                    "INSERT INTO " + table + " VALUES (1, 'g', 'q', 'ab', 'p'), (2, NULL, NULL, NULL, NULL)",
                    "INSERT INTO \"Item\" VALUES (1, 'upper')",
                    "INSERT INTO item VALUES (1, 'lower')",
                    "INSERT INTO \"it's ? ; --\" VALUES ('a', 'b'), ('c', NULL)");
            both.replicate(
                    "UPDATE " + table + " SET \"%s $1 ?\" = 'x' WHERE \"order\" = 1",
                    "UPDATE " + table + " SET \"order\" = 20 WHERE \"order\" = 2",
                    "UPDATE \"it's ? ; --\" SET \";\" = 'd' WHERE \"?\" = 'c'",
                    "DELETE FROM \"it's ? ; --\" WHERE \"?\" = 'a'",
                    "TRUNCATE \"Item\"");

            both.assertSame(table, "\"Item\"", "item", "\"it's ? ; --\"");
        }
    }

    @Test
    void an_unchanged_toasted_value_stays_also_where_updates_of_a_row_are_merged() {
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE TABLE i01(id int PRIMARY KEY, a int, big text)",
                "ALTER TABLE i01 ALTER big SET STORAGE EXTERNAL",
                "CREATE TABLE i01f(LIKE i01 INCLUDING ALL)",
                "ALTER TABLE i01f REPLICA IDENTITY FULL")) {
            both.replicate(
                    "INSERT INTO i01 SELECT g, 0, repeat(md5(g::text), 400) FROM generate_series(1, 5) g",
                    "INSERT INTO i01f SELECT * FROM i01");
            for (String table : List.of("i01", "i01f")) {
                both.replicate(
                        "UPDATE " + table + " SET a = 1",
                        "UPDATE " + table + " SET a = 2, big = 'short' WHERE id = 2",
                        "UPDATE " + table + " SET a = 3 WHERE id = 2",
                        "UPDATE " + table + " SET big = NULL WHERE id = 3",
                        "UPDATE " + table + " SET a = 4 WHERE id = 3",
                        "DELETE FROM " + table + " WHERE id = 4");
                both.assertSame(table);
            }
            assertThat(both.fast().replays()).isZero();
        }
    }

    @Test
    void an_insert_without_one_of_its_values_is_refused_naming_the_column() {
        DatabasePair pair = DatabasePair.shared();
        try (DialectFixture both = DialectFixture.with(
                pair,
                false,
                List.of(
                        "CREATE TABLE f(id int PRIMARY KEY, region text, big text)",
                        "ALTER TABLE f ALTER big SET STORAGE EXTERNAL"),
                List.of())) {
            pair.publisher()
                    .execute(
                            "DROP PUBLICATION pb",
                            "CREATE PUBLICATION pb FOR TABLE f WHERE (id > 10)",
                            "INSERT INTO f VALUES (1, 'x', repeat('0123456789', 2000))");
            both.skip();

            assertThatThrownBy(() -> both.replicate("UPDATE f SET id = 11 WHERE id = 1"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("\"public.f\"")
                    .hasMessageContaining("column \"big\"");
            assertThat(both.fast().rows("f")).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void modifiers_of_the_target_apply_as_by_the_input_function(boolean binary) {
        try (DialectFixture both = DialectFixture.with(
                binary,
                "CREATE TABLE m(id int PRIMARY KEY, v varchar, c char(10), n numeric, b bit varying, t timestamp, i interval, a varchar[])")) {
            both.onTargets(
                    "ALTER TABLE m ALTER v TYPE varchar(3), ALTER c TYPE char(5), ALTER n TYPE numeric(6,2),"
                            + " ALTER b TYPE varbit(4), ALTER t TYPE timestamp(3), ALTER i TYPE interval(0), ALTER a TYPE varchar(2)[]");
            both.replicate(
                    "INSERT INTO m VALUES (1, 'abc   ', 'ab', 1.005, B'1010', '2024-01-01 00:00:00.0006', '1.6 s', '{ab}'),"
                            + " (2, 'é€😀', 'x', -9999.994, B'', '2024-01-01', '1 mon', '{}')");
            assertThat(both.fast().rows("m"))
                    .containsExactly(
                            "(1,abc,\"ab   \",1.01,1010,\"2024-01-01 00:00:00.001\",00:00:02,{ab})",
                            "(2,é€😀,\"x    \",-9999.99,\"\",\"2024-01-01 00:00:00\",\"1 mon\",{})");
            both.replicate("UPDATE m SET n = 2.005, t = '2024-01-01 00:00:00.0016', v = 'xyz ', c = 'cc' WHERE id = 1");
            both.assertBothPathsAgree("m");
            assertThat(both.fast().replays()).isZero();

            for (String change : List.of("v = 'long'", "c = 'too long'", "n = 10000", "b = B'10101'", "a = '{abc}'")) {
                assertThatThrownBy(() -> both.replicate("UPDATE m SET " + change + " WHERE id = 1"))
                        .as(change)
                        .isInstanceOf(ApplyException.class)
                        .extracting(e -> ((ApplyException) e).kind())
                        .isEqualTo(Kind.DATA);
                both.publisher().execute("UPDATE m SET v = 'abc', c = 'c', n = 1, b = B'1', a = '{a}' WHERE id = 1");
                both.skip();
            }
            both.assertBothPathsAgree("m");
        }
    }

    @Test
    void columns_of_the_targets_own_get_their_default_and_are_left_alone() {
        try (DialectFixture both = DialectFixture.with(
                DatabasePair.shared(),
                false,
                List.of("CREATE TABLE s01(id int PRIMARY KEY, a text, b text)"),
                List.of(
                        "DROP TABLE s01",
                        "CREATE TABLE s01(b text, seq bigserial, a text, id int PRIMARY KEY, note text DEFAULT 'local')"))) {
            both.replicate("INSERT INTO s01 VALUES (1, 'a1', 'b1'), (2, 'a2', 'b2')");
            both.onTargets("UPDATE s01 SET note = 'kept'");
            both.replicate(
                    "UPDATE s01 SET a = 'A1' WHERE id = 1",
                    "UPDATE s01 SET id = 20 WHERE id = 2",
                    "UPDATE s01 SET b = NULL WHERE id = 20");

            assertThat(both.fast().rows("s01")).containsExactly("(,2,a2,20,kept)", "(b1,1,A1,1,kept)");
            both.assertBothPathsAgree("s01");
        }
    }

    @Test
    void identity_columns_take_the_publishers_values_and_generated_ones_are_left_to_the_target() {
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE TABLE s08(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, q int, dbl int GENERATED ALWAYS AS (q*2) STORED, note text)",
                "CREATE TABLE s08b(id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)",
                "CREATE TABLE s08c(k int PRIMARY KEY, id int GENERATED ALWAYS AS IDENTITY, note text)",
                "CREATE TABLE s08d(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
                "CREATE TABLE s08e(id int GENERATED ALWAYS AS IDENTITY, note text)",
                "ALTER TABLE s08e REPLICA IDENTITY FULL")) {
            both.onTargets("ALTER TABLE s08 ADD extra text DEFAULT 'mine'");
            both.replicate(
                    "INSERT INTO s08(q,note) VALUES (1,'a'),(2,'b')",
                    "INSERT INTO s08(id,q) OVERRIDING SYSTEM VALUE VALUES (500,5)",
                    "INSERT INTO s08b VALUES (7),(9)",
                    "INSERT INTO s08c(k, note) SELECT g, 'c' FROM generate_series(1, 5) g",
                    "INSERT INTO s08d OVERRIDING SYSTEM VALUE VALUES (7),(9)",
                    "INSERT INTO s08e(note) VALUES ('e'),('e')");
            both.onTargets("UPDATE s08 SET extra = 'kept' WHERE id = 500");
            both.replicate(
                    "UPDATE s08 SET q = 10 WHERE id = 1",
                    "UPDATE s08 SET id = DEFAULT WHERE id = 500",
                    "UPDATE s08b SET id = 8 WHERE id = 7",
                    "UPDATE s08c SET note = 'd' WHERE k < 4",
                    "UPDATE s08c SET id = DEFAULT WHERE k = 2",
                    "UPDATE s08d SET id = DEFAULT WHERE id = 9",
                    "UPDATE s08e SET note = 'f' WHERE id = 1",
                    "UPDATE s08e SET id = DEFAULT WHERE id = 2");
            both.replicate("UPDATE s08 SET note = 'c' WHERE q = 2");

            both.assertSame("s08b", "s08c", "s08d", "s08e", "(SELECT id, q, dbl, note FROM s08)");
            assertThat(both.fast().rows("s08")).contains("(3,5,10,,kept)");
            both.assertBothPathsAgree("s08");
        }
    }

    @Test
    void a_partitioned_target_takes_rows_by_its_root() {
        DatabasePair pair = DatabasePair.shared();
        try (DialectFixture both = DialectFixture.with(
                pair,
                false,
                List.of(
                        "CREATE TABLE ev(id int, d date, v text, PRIMARY KEY(id, d))",
                        "CREATE TABLE log(a int, v text)",
                        "ALTER TABLE log REPLICA IDENTITY FULL"),
                List.of(
                        "DROP TABLE ev, log",
                        "CREATE TABLE ev(d date, id int, v text, PRIMARY KEY(id, d)) PARTITION BY HASH(id)",
                        "CREATE TABLE ev0 PARTITION OF ev FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
                        "CREATE TABLE ev1(x int, v text, d date NOT NULL, id int NOT NULL)",
                        "ALTER TABLE ev1 DROP COLUMN x",
                        "ALTER TABLE ev ATTACH PARTITION ev1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                        "CREATE TABLE log(a int, v text) PARTITION BY LIST(a)",
                        "CREATE TABLE log0 PARTITION OF log FOR VALUES IN (0)",
                        "CREATE TABLE log1 PARTITION OF log DEFAULT"))) {
            both.replicate(
                    "INSERT INTO ev SELECT g, '2020-01-01'::date + g, 'v' FROM generate_series(1, 300) g",
                    "INSERT INTO log SELECT g % 2, 'l' FROM generate_series(1, 10) g");
            both.replicate(
                    "UPDATE ev SET v = 'w' WHERE id < 10",
                    "UPDATE ev SET id = id + 1000 WHERE id = 10",
                    "DELETE FROM ev WHERE id > 290 AND id < 1000",
                    "UPDATE log SET a = 3 WHERE ctid = (SELECT min(ctid) FROM log WHERE a = 0)",
                    "DELETE FROM log WHERE ctid = (SELECT min(ctid) FROM log WHERE a = 1)");

            both.assertSame("(SELECT id, d, v FROM ev)", "log");
            assertThat(both.fast().replays()).isZero();
            assertThat(both.fast().missing()).isZero();
        }
    }

    @Test
    void inheriting_tables_are_not_reached() {
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE TABLE base(id int PRIMARY KEY, v text)",
                "CREATE TABLE plain(v text)",
                "ALTER TABLE plain REPLICA IDENTITY FULL")) {
            both.onTargets(
                    "CREATE TABLE kid(extra int) INHERITS (base)",
                    "INSERT INTO kid VALUES (1, 'kid', 1), (2, 'kid', 2)",
                    "CREATE TABLE plain_kid() INHERITS (plain)",
                    "INSERT INTO plain_kid VALUES ('p')");
            both.replicate("INSERT INTO base VALUES (1, 'b'), (2, 'b')", "INSERT INTO plain VALUES ('p'), ('q')");
            both.replicate(
                    "UPDATE base SET v = 'c'", "DELETE FROM base WHERE id = 2", "DELETE FROM plain WHERE v = 'p'");

            both.assertSame("ONLY base", "ONLY plain");
            both.replicate("TRUNCATE base, plain");
            assertThat(both.fast().rows("kid")).containsExactly("(1,kid,1)", "(2,kid,2)");
            assertThat(both.exact().rows("kid")).containsExactly("(1,kid,1)", "(2,kid,2)");
            assertThat(both.fast().rows("plain")).containsExactly("(p)");
        }
    }

    @Test
    void a_truncation_stands_in_its_place_and_restarts_identities() {
        try (DialectFixture both = DialectFixture.with(
                false, "CREATE TABLE r05(id int PRIMARY KEY, v text)", "CREATE TABLE r05b(id serial PRIMARY KEY)")) {
            both.onTargets("SELECT setval('r05b_id_seq', 100)");
            both.replicate(
                    "INSERT INTO r05 VALUES (1, 'old'), (2, 'old')",
                    "TRUNCATE r05",
                    "INSERT INTO r05 VALUES (1, 'new')",
                    "INSERT INTO r05b VALUES (1)",
                    "TRUNCATE r05b, r05 RESTART IDENTITY",
                    "INSERT INTO r05 VALUES (7, 'z')");

            both.assertSame("r05", "r05b");
            assertThat(both.fast().fastBatches()).isEqualTo(1);
            assertThat(both.fast().database().value("SELECT last_value FROM r05b_id_seq"))
                    .isEqualTo("1");
        }
    }

    @Test
    void a_truncation_is_refused_where_a_foreign_key_points_to_the_table() {
        try (DialectFixture both = DialectFixture.with(false, "CREATE TABLE par(id int PRIMARY KEY)")) {
            both.onTargets("CREATE TABLE chi(p int REFERENCES par)");

            assertThatThrownBy(() -> both.replicate("TRUNCATE par CASCADE"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("foreign key");
        }
    }

    @Test
    void a_key_violation_is_a_conflict_that_names_constraint_and_key() {
        try (DialectFixture both = DialectFixture.with(false, "CREATE TABLE u(id int PRIMARY KEY, v text)")) {
            both.onTargets("INSERT INTO u VALUES (1, 'local')");

            assertThatThrownBy(() -> both.replicate("INSERT INTO u VALUES (1, 'remote')"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessage(
                            "duplicate key value violates unique constraint \"u_pkey\": Key (id)=(1) already exists")
                    .satisfies(e -> {
                        assertThat(((ApplyException) e).kind()).isEqualTo(Kind.CONFLICT);
                        assertThat(((ApplyException) e).sqlState()).isEqualTo("23505");
                    });
            assertThat(both.fast().rows("u")).containsExactly("(1,local)");
        }
    }

    @Test
    void an_error_of_the_data_names_the_column() {
        try (DialectFixture both = DialectFixture.with(false, "CREATE TABLE e(id int PRIMARY KEY, v text, n int)")) {
            both.onTargets("ALTER TABLE e ALTER v TYPE int USING NULL, ALTER n SET NOT NULL");

            assertThatThrownBy(() -> both.replicate("INSERT INTO e VALUES (1, 'no number', 1)"))
                    .hasMessage("invalid input syntax for type integer: \"no number\"")
                    .extracting(e -> ((ApplyException) e).column())
                    .isEqualTo("v");
            assertThatThrownBy(() -> both.replicate("INSERT INTO e VALUES (2, '2', NULL)"))
                    .hasMessageContaining("violates not-null constraint")
                    .extracting(e -> ((ApplyException) e).column())
                    .isEqualTo("n");
        }
    }

    @Test
    void a_column_whose_type_changed_is_read_by_its_new_type() {
        try (DialectFixture both = DialectFixture.with(false, "CREATE TABLE a(id int PRIMARY KEY, v int)")) {
            both.replicate("INSERT INTO a VALUES (1, 1), (2, 2)");
            both.replicate("UPDATE a SET v = 3 WHERE id = 1", "UPDATE a SET id = 20 WHERE id = 2");
            both.onTargets("ALTER TABLE a ALTER v TYPE text", "ALTER TABLE a ALTER id TYPE bigint");
            both.fast().describeAnew();
            both.exact().describeAnew();
            both.replicate(
                    "ALTER TABLE a ALTER v TYPE text",
                    "UPDATE a SET v = 'words' WHERE id = 1",
                    "UPDATE a SET id = 21, v = 'more' WHERE id = 20");

            both.assertSame("a");
        }
    }

    @Test
    void a_citext_key_is_compared_by_its_own_operator() {
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE SCHEMA ext",
                "CREATE EXTENSION citext SCHEMA ext",
                "CREATE TABLE c(k ext.citext PRIMARY KEY, v int)")) {
            both.replicate("INSERT INTO c VALUES ('Key', 1), ('Other', 2)");
            both.onTargets("UPDATE c SET k = 'KEY' WHERE v = 1");
            both.replicate(
                    "UPDATE c SET v = 3 WHERE k OPERATOR(ext.=) 'key'",
                    "DELETE FROM c WHERE k OPERATOR(ext.=) 'other'");

            assertThat(both.fast().rows("c")).containsExactly("(Key,3)");
            both.assertBothPathsAgree("c");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"c0 int PRIMARY KEY", "c0 int"})
    void a_table_of_many_columns_fits_a_statement(String firstColumn) {
        String columns =
                IntStream.range(1, 300).mapToObj(i -> ", c" + i + " text").collect(Collectors.joining());
        String values = IntStream.range(1, 300).mapToObj(i -> ", 'v" + i + "'").collect(Collectors.joining());
        String assignments =
                IntStream.range(1, 300).mapToObj(i -> "c" + i + " = 'w'").collect(Collectors.joining(", "));
        try (DialectFixture both = DialectFixture.with(
                false, "CREATE TABLE wide(" + firstColumn + columns + ")", "ALTER TABLE wide REPLICA IDENTITY FULL")) {
            both.replicate("INSERT INTO wide SELECT g" + values + " FROM generate_series(1, 20) g");
            both.replicate("UPDATE wide SET " + assignments + " WHERE c0 < 10", "DELETE FROM wide WHERE c0 > 15");

            both.assertSame("wide");
            assertThat(both.fast().replays()).isZero();
        }
    }

    @Test
    void a_regclass_goes_by_its_name_also_where_an_array_cannot_carry_it() {
        try (DialectFixture both = DialectFixture.with(
                false, "CREATE TABLE r(id int PRIMARY KEY, c regclass)", "CREATE TABLE other(id int)")) {
            both.replicate("INSERT INTO r VALUES (1, 'r'), (2, 'other'), (3, '0')");
            both.replicate("UPDATE r SET c = 'other' WHERE id = 1", "DELETE FROM r WHERE id = 3");
            assertThat(both.fast().rows("r")).containsExactly("(1,other)", "(2,other)");
            both.assertBothPathsAgree("r");

            both.onTargets("DROP TABLE other");
            assertThatThrownBy(() -> both.replicate("UPDATE r SET c = c WHERE id = 2"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("\"public.other\" does not exist")
                    .extracting(e -> ((ApplyException) e).column())
                    .isEqualTo("c");
        }
    }
}
