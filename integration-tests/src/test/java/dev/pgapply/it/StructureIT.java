package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import org.junit.jupiter.api.Test;

/** Columns and names that differ or are unusual: cases S01, S02, S08. */
class StructureIT {

    @Test
    void s01_columns_are_matched_by_name_and_the_targets_own_are_left_alone() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher()
                    .execute(
                            "CREATE TABLE s01(junk text, id int PRIMARY KEY, a text, b text)",
                            "ALTER TABLE s01 DROP COLUMN junk",
                            "INSERT INTO s01 VALUES (1,'a1','b1')");
            scenario.target()
                    .execute(
                            "CREATE TABLE s01(b text, loaded_at timestamptz NOT NULL DEFAULT clock_timestamp(), a text,"
                                    + " seq bigserial, id int PRIMARY KEY, note text DEFAULT 'local')");
            scenario.publish("s01").start();
            scenario.publisher().execute("INSERT INTO s01 VALUES (2,'a2','b2')");
            scenario.awaitCaughtUp();
            scenario.target().execute("UPDATE s01 SET note='kept' WHERE id IN (1,2)");
            String own = "SELECT seq || ' ' || loaded_at || ' ' || note FROM s01 ORDER BY seq";
            var before = scenario.target().column(own);

            scenario.publisher()
                    .execute(
                            "UPDATE s01 SET a='A1' WHERE id=1",
                            "UPDATE s01 SET id=20 WHERE id=2",
                            "UPDATE s01 SET b=NULL WHERE id=20");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSameRows("SELECT id, a, b FROM s01");
            assertThat(scenario.target().column(own)).isEqualTo(before).hasSize(2);
        }
    }

    @Test
    void s01_a_target_column_that_must_have_a_value_stops_the_whole_transaction() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE s01(id int PRIMARY KEY)", "CREATE TABLE beside(id int PRIMARY KEY)")
                    .publish("s01", "beside");
            scenario.target().execute("ALTER TABLE s01 ADD COLUMN must_have text NOT NULL");
            scenario.start();

            scenario.publisher().transaction("INSERT INTO beside VALUES (1)", "INSERT INTO s01 VALUES (1)");

            assertThat(scenario.engine().awaitError("must_have").toString()).contains("s01");
            assertThat(scenario.target().number("SELECT count(*) FROM beside")).isZero();
            scenario.target().execute("ALTER TABLE s01 ALTER must_have DROP NOT NULL");
            scenario.awaitCaughtUp();
            assertThat(scenario.target().column("SELECT id FROM beside")).containsExactly("1");
        }
    }

    @Test
    void s02_every_legal_name_is_quoted_and_case_twins_are_told_apart() {
        String longName = "表".repeat(21);
        String x = "é".repeat(31) + "x";
        String y = "é".repeat(31) + "y";
        String[] tables = {"\"Sch.ema\".\"select\"", "\"Item\"", "item", "\"ITEM\"", Database.quote(longName)};
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(
                    "CREATE SCHEMA \"Sch.ema\"",
                    "CREATE TABLE \"Sch.ema\".\"select\"(\"order\" int PRIMARY KEY, \"Group By\" text, \"\"\"q\"\"\" text, \"a.b\" text, \"%s $1 ?\" text)",
                    "CREATE TABLE \"Item\"(id int PRIMARY KEY, v text)",
                    "CREATE TABLE item(id int PRIMARY KEY, v text)",
                    "CREATE TABLE \"ITEM\"(id int PRIMARY KEY, v text)",
                    "CREATE TABLE " + tables[4] + "(" + x + " int PRIMARY KEY, " + y + " text)");
            String[] keys = {"\"order\"", "id", "id", "id", x};
            String[] values = {"\"a.b\"", "v", "v", "v", y};
            for (int i = 0; i < tables.length; i++) {
                insert(scenario, tables[i], keys[i], values[i], 1);
            }
            scenario.publish(tables).start();

            for (int i = 0; i < tables.length; i++) {
                for (int id = 2; id <= 4; id++) {
                    insert(scenario, tables[i], keys[i], values[i], id);
                }
                scenario.publisher()
                        .execute(
                                "UPDATE " + tables[i] + " SET " + keys[i] + " = 20 WHERE " + keys[i] + " = 2",
                                "UPDATE " + tables[i] + " SET " + values[i] + " = 'new' WHERE " + keys[i]
                                        + " IN (1, 20)",
                                "DELETE FROM " + tables[i] + " WHERE " + keys[i] + " = 3");
            }
            scenario.publisher().execute("TRUNCATE \"Item\"");

            scenario.assertSame(tables);
            assertThat(scenario.target().number("SELECT count(*) FROM \"Item\""))
                    .isZero();
            assertThat(scenario.target().number("SELECT count(*) FROM \"ITEM\""))
                    .isEqualTo(3);
        }
    }

    private static void insert(Scenario scenario, String table, String key, String value, int id) {
        scenario.publisher()
                .execute("INSERT INTO " + table + "(" + key + ", " + value + ") VALUES (" + id + ", 'v" + id + "')");
    }

    private static final String S08 = "CREATE TABLE s08(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, q int,"
            + " dbl int GENERATED ALWAYS AS (q*2) STORED, note text)";
    private static final String S08_PLAIN =
            "CREATE TABLE s08(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, q int," + " dbl int, note text)";
    private static final String S08_SEQUENCE_ONLY =
            "CREATE TABLE s08b(id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)";

    @Test
    void s08_a_generated_columns_and_identities_are_as_on_the_publisher() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher().execute(S08, S08_SEQUENCE_ONLY);
            scenario.target().execute(S08, S08_SEQUENCE_ONLY);

            changeIdentities(scenario, "");

            scenario.assertSame("s08", "s08b");
            assertThat(scenario.target().number("SELECT count(*) FROM s08 WHERE dbl = 2*q"))
                    .isEqualTo(6);
        }
    }

    @Test
    void s08_b_a_generated_column_that_is_not_published_is_null_in_a_plain_one() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher().execute(S08, S08_SEQUENCE_ONLY);
            scenario.target().execute(S08_PLAIN, S08_SEQUENCE_ONLY);

            changeIdentities(scenario, "");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSameRows("SELECT id, q, note FROM s08");
            assertThat(scenario.target().number("SELECT count(*) FROM s08 WHERE dbl IS NULL"))
                    .isEqualTo(6);
        }
    }

    @Test
    void s08_c_a_published_value_for_a_generated_column_is_left_to_the_targets_expression() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher().execute(S08_PLAIN, S08_SEQUENCE_ONLY);
            scenario.target().execute(S08, S08_SEQUENCE_ONLY);

            changeIdentities(scenario, "99");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSameRows("SELECT id, q, note FROM s08");
            assertThat(scenario.target().number("SELECT count(*) FROM s08 WHERE dbl = 2*q"))
                    .isEqualTo(6);
        }
    }

    /** The case's statements, before the copy and again after it; {@code dbl} is set where it is an ordinary column. */
    private static void changeIdentities(Scenario scenario, String dbl) {
        String column = dbl.isEmpty() ? "" : ", dbl";
        String value = dbl.isEmpty() ? "" : ", " + dbl;
        // From 18 on the publisher refuses changes where the identity has generated columns that are not published.
        boolean fullMayBeUsed = !dbl.isEmpty() || RunOptions.publisherVersion() < 18;
        for (int pass = 0; pass < 2; pass++) {
            int forced = 500 + pass;
            scenario.publisher()
                    .execute(
                            "INSERT INTO s08(q, note" + column + ") VALUES (" + (1 + pass) + ", 'a'" + value
                                    + "), (7, 'b'" + value + ")",
                            "INSERT INTO s08(id, q" + column + ") OVERRIDING SYSTEM VALUE VALUES (" + forced + ", 5"
                                    + value + ")",
                            "INSERT INTO s08b VALUES (" + (70 + pass) + "), (" + (90 + pass) + ")",
                            "UPDATE s08 SET q = 10 WHERE q = " + (1 + pass),
                            "UPDATE s08 SET id = DEFAULT WHERE id = " + forced,
                            fullMayBeUsed ? "ALTER TABLE s08 REPLICA IDENTITY FULL" : "SELECT 1",
                            "UPDATE s08 SET note = 'c' WHERE q = 7",
                            "ALTER TABLE s08 REPLICA IDENTITY DEFAULT");
            if (pass == 0) {
                scenario.publish("s08", "s08b").start();
            }
        }
    }

    @Test
    void s08_generated_columns_of_postgresql_18_are_computed_or_taken() {
        if (RunOptions.publisherVersion() < 18 || RunOptions.targetVersion() < 18) {
            return;
        }
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher()
                    .execute(
                            "CREATE TABLE g(id int PRIMARY KEY, q int, stored int GENERATED ALWAYS AS (q*2) STORED, virt int GENERATED ALWAYS AS (q*3) VIRTUAL)",
                            "CREATE PUBLICATION pb FOR TABLE g WITH (publish_generated_columns = stored)",
                            "INSERT INTO g VALUES (1, 1)");
            scenario.target()
                    .execute(
                            "CREATE TABLE g(id int PRIMARY KEY, q int, stored int, virt int GENERATED ALWAYS AS (q*3) VIRTUAL)");
            scenario.start();

            scenario.publisher().execute("INSERT INTO g VALUES (2, 2)", "UPDATE g SET q = 10 WHERE id = 1");

            scenario.assertSame("g");
        }
    }
}
