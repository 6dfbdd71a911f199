package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables with REPLICA IDENTITY FULL and no key: CASES.md I03, and what equality means. */
class FullRowIT {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void each_event_changes_one_of_the_equal_rows(boolean binary) {
        try (DialectFixture both = DialectFixture.with(
                binary, "CREATE TABLE i03(a int, b text, c float8)", "ALTER TABLE i03 REPLICA IDENTITY FULL")) {
            both.replicate(
                    "INSERT INTO i03 VALUES (1,NULL,NULL),(1,'x',2),(1,'x',2),(1,'x',2),(NULL,NULL,NULL),(NULL,NULL,NULL)");
            both.replicate(
                    "UPDATE i03 SET c=300 WHERE b IS NULL AND a=1",
                    "UPDATE i03 SET a=a",
                    "DELETE FROM i03 WHERE ctid=(SELECT min(ctid) FROM i03 WHERE b='x')",
                    "UPDATE i03 SET b='y' WHERE ctid=(SELECT min(ctid) FROM i03 WHERE b='x')",
                    "DELETE FROM i03 WHERE ctid=(SELECT min(ctid) FROM i03 WHERE a IS NULL)",
                    "BEGIN; INSERT INTO i03 VALUES(9,'d',1),(9,'d',1);"
                            + " DELETE FROM i03 WHERE ctid=(SELECT max(ctid) FROM i03 WHERE a=9); COMMIT");

            both.assertSame("i03");
            assertThat(both.fast().rows("i03")).containsExactly("(,,)", "(1,,300)", "(1,x,2)", "(1,y,2)", "(9,d,1)");
            assertThat(both.fast().missing()).isZero();
        }
    }

    @Test
    void a_row_that_is_missing_is_reported_and_nothing_else_is_touched() {
        try (DialectFixture both =
                DialectFixture.with(false, "CREATE TABLE m(a int, b text)", "ALTER TABLE m REPLICA IDENTITY FULL")) {
            both.replicate("INSERT INTO m SELECT g, 'r' FROM generate_series(1, 20) g");
            both.onTargets("DELETE FROM m WHERE a IN (3, 4)");
            both.replicate(
                    "UPDATE m SET b = 's' WHERE a < 10", "DELETE FROM m WHERE a = 4", "DELETE FROM m WHERE a > 15");

            both.assertBothPathsAgree("m");
            assertThat(both.fast().missing()).isEqualTo(3);
            assertThat(both.fast().database().number("SELECT count(*) FROM m")).isEqualTo(13);
        }
    }

    @Test
    void columns_of_the_targets_own_are_not_compared() {
        try (DialectFixture both =
                DialectFixture.with(false, "CREATE TABLE o(a int, b text)", "ALTER TABLE o REPLICA IDENTITY FULL")) {
            both.onTargets("ALTER TABLE o ADD mine int DEFAULT 5, ADD g int GENERATED ALWAYS AS (a + 1) STORED");
            both.replicate("INSERT INTO o VALUES (1, 'x'), (2, 'y'), (3, NULL)");
            both.replicate("UPDATE o SET b = 'z' WHERE a <> 2", "DELETE FROM o WHERE a = 2");

            assertThat(both.fast().rows("o")).containsExactly("(1,z,5,2)", "(3,z,5,4)");
            both.assertBothPathsAgree("o");
        }
    }

    @Test
    void equality_is_that_of_each_type_and_collation() {
        try (DialectFixture both = DialectFixture.with(
                false,
                "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                "CREATE TABLE q(n numeric, f float8, t text COLLATE ci, c char(6), a numeric[], k int)",
                "ALTER TABLE q REPLICA IDENTITY FULL")) {
            both.replicate("INSERT INTO q VALUES (1.0, 0, 'Word', 'ab', '{1.0}', 1), (2.00, 'NaN', 'x', 'c', '{}', 2)");
            both.onTargets("UPDATE q SET n = 1.000, f = '-0', t = 'WORD', a = '{1.00}' WHERE k = 1");
            both.replicate("UPDATE q SET k = 10 WHERE k = 1", "DELETE FROM q WHERE k = 2");

            both.assertSame("q");
            assertThat(both.fast().missing()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "point", "box", "xml"})
    void a_type_without_equality_is_refused_in_postgresqls_sentence(String type) {
        try (DialectFixture both =
                DialectFixture.with(false, "CREATE TABLE n(v " + type + ")", "ALTER TABLE n REPLICA IDENTITY FULL")) {
            String value = switch (type) {
                case "json" -> "{}";
                case "point" -> "(1,1)";
                case "box" -> "(1,1),(0,0)";
                default -> "<a/>";
            };
            both.replicate("INSERT INTO n VALUES ('" + value + "')");

            assertThatThrownBy(() -> both.replicate("DELETE FROM n"))
                    .isInstanceOf(ApplyException.class)
                    .hasMessage("could not identify an equality operator for type " + type);
            assertThat(both.fast().rows("n")).hasSize(1);
        }
    }

    @Test
    void two_thousand_updates_of_a_large_table_take_one_pass() {
        try (DialectFixture both = DialectFixture.with(
                false, "CREATE TABLE big(a int, b text, c numeric)", "ALTER TABLE big REPLICA IDENTITY FULL")) {
            String rows = "INSERT INTO big SELECT g, md5(g::text), g / 7.0 FROM generate_series(1, 200000) g";
            both.publisher().execute(rows, "ANALYZE big");
            both.onTargets(rows);
            both.skip();
            both.publisher().execute("UPDATE big SET b = 'new' WHERE a % 100 = 0");
            long before = System.nanoTime();
            both.replicateFastOnly();
            long millis = (System.nanoTime() - before) / 1_000_000;
            System.out.println("2,000 updates in a 200,000-row table without a key: " + millis + " ms");

            assertThat(both.fast().database().number("SELECT count(*) FROM big WHERE b = 'new'"))
                    .isEqualTo(2_000);
            assertThat(both.fast().replays()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(DialectTarget.Path.class)
    void a_concurrent_local_update_does_not_hide_the_row(DialectTarget.Path path) throws Exception {
        try (DialectFixture both =
                DialectFixture.with(false, "CREATE TABLE l(a int, b text)", "ALTER TABLE l REPLICA IDENTITY FULL")) {
            both.onTargets("ALTER TABLE l ADD mine int DEFAULT 0");
            both.replicate("INSERT INTO l VALUES (1, 'x'), (2, 'y')");
            both.publisher().execute("UPDATE l SET b = 'z' WHERE a = 1", "DELETE FROM l WHERE a = 2");
            List<PgOutputMessage> messages = both.next();
            DialectTarget target = path == DialectTarget.Path.FAST ? both.fast() : both.exact();
            Database database = target.database();
            try (Connection local = database.connect();
                    Statement statement = local.createStatement()) {
                local.setAutoCommit(false);
                statement.execute("UPDATE l SET mine = mine + 1");
                CompletableFuture<Void> applied = CompletableFuture.runAsync(() -> target.apply(messages));
                Wait.until(
                        "the apply session to wait for the local transaction",
                        () -> database.number(
                                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
                                                + " AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())")
                                > 0);
                local.commit();
                applied.get(30, TimeUnit.SECONDS);
            }

            assertThat(target.rows("l")).containsExactly("(1,z,1)");
            assertThat(target.missing()).isZero();
        }
    }
}
