package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How a row is found: cases I01, I03, I04. */
class IdentityIT {

    @Test
    void i01_large_values_that_were_not_sent_again_are_kept_under_every_identity() {
        String[] tables = {"i01_default", "i01_index", "i01_full"};
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher().execute("SELECT setseed(0.5)");
            for (String table : tables) {
                scenario.onBoth(
                        "CREATE TABLE " + table
                                + "(id int PRIMARY KEY, u int NOT NULL, a int, big text, arr int[] NOT NULL, j jsonb,"
                                + " CONSTRAINT " + table + "_u UNIQUE (u))",
                        "ALTER TABLE " + table + " ALTER big SET STORAGE EXTERNAL");
                rows(scenario, table, 1, 5);
            }
            scenario.onBoth(
                    "ALTER TABLE i01_index REPLICA IDENTITY USING INDEX i01_index_u",
                    "ALTER TABLE i01_full REPLICA IDENTITY FULL");
            scenario.publish(tables).start();

            for (String table : tables) {
                rows(scenario, table, 11, 15);
                scenario.publisher()
                        .execute(
                                "UPDATE " + table + " SET a=1",
                                "UPDATE " + table + " SET a=2, big='short' WHERE id=12",
                                "UPDATE " + table + " SET a=3 WHERE id=12",
                                "UPDATE " + table + " SET big=NULL WHERE id=13",
                                "UPDATE " + table + " SET a=4 WHERE id=13");
                scenario.publisher()
                        .transaction(
                                "INSERT INTO " + table + " SELECT 99,99,0,big,arr,j FROM " + table + " WHERE id=11",
                                "UPDATE " + table + " SET a=9 WHERE id=99",
                                "UPDATE " + table + " SET a=10 WHERE id=99");
                scenario.publisher().execute("DELETE FROM " + table + " WHERE id=14");
            }

            scenario.assertSame(tables);
            assertThat(scenario.target().number("SELECT count(*) FROM i01_default WHERE length(big) = 12800"))
                    .isEqualTo(8);
        }
    }

    private static void rows(Scenario scenario, String table, int from, int to) {
        scenario.publisher()
                .execute("INSERT INTO " + table + " SELECT g,g,0,repeat(md5(g::text),400),"
                        + "array(SELECT (random()*1e6)::int FROM generate_series(1,3000)),"
                        + "(SELECT jsonb_object_agg(md5(x::text),x) FROM generate_series(1,500) x) FROM generate_series("
                        + from + "," + to + ") g");
    }

    @Test
    void i03_full_rows_match_nulls_and_exactly_one_of_several_duplicates() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE i03(a int, b text, c float8)").publish("i03");
            scenario.publisher()
                    .execute(
                            "ALTER TABLE i03 REPLICA IDENTITY FULL",
                            "INSERT INTO i03 VALUES (1,NULL,NULL),(1,'x',2),(1,'x',2),(1,'x',2),(NULL,NULL,NULL),(NULL,NULL,NULL)");
            scenario.start();

            scenario.publisher()
                    .execute(
                            "UPDATE i03 SET c=300 WHERE b IS NULL AND a=1",
                            "UPDATE i03 SET a=a",
                            "DELETE FROM i03 WHERE ctid=(SELECT min(ctid) FROM i03 WHERE b='x')",
                            "UPDATE i03 SET b='y' WHERE ctid=(SELECT min(ctid) FROM i03 WHERE b='x')",
                            "DELETE FROM i03 WHERE ctid=(SELECT min(ctid) FROM i03 WHERE a IS NULL)");
            scenario.publisher()
                    .transaction(
                            "INSERT INTO i03 VALUES(9,'d',1),(9,'d',1)",
                            "DELETE FROM i03 WHERE ctid=(SELECT max(ctid) FROM i03 WHERE a=9)");

            scenario.assertSame("i03");
            assertThat(scenario.target().column("SELECT t::text FROM i03 t ORDER BY 1"))
                    .containsExactlyInAnyOrder("(1,,300)", "(1,x,2)", "(1,y,2)", "(,,)", "(9,d,1)");
        }
    }

    @Test
    void i04_the_announced_identity_finds_the_row_and_not_the_primary_key() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher()
                    .execute(
                            "CREATE TABLE i04(id int PRIMARY KEY, t char(3) NOT NULL, at timestamptz NOT NULL, n numeric NOT NULL, v int)",
                            "CREATE UNIQUE INDEX i04_ri ON i04(n,at,t)",
                            "ALTER TABLE i04 REPLICA IDENTITY USING INDEX i04_ri");
            scenario.target()
                    .execute(
                            "CREATE TABLE i04(id int, t char(3), at timestamptz, n numeric, v int, UNIQUE (t, at, n))");
            scenario.publish("i04").start();

            changeByIndex(scenario);

            scenario.assertSame("i04");
            assertThat(scenario.target().column("SELECT id FROM i04 ORDER BY id"))
                    .containsExactly("101", "103");
        }
    }

    @Test
    void i04_a_target_without_an_index_on_the_identity_stops_and_says_what_is_missing() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher()
                    .execute(
                            "CREATE TABLE i04(id int PRIMARY KEY, t char(3) NOT NULL, at timestamptz NOT NULL, n numeric NOT NULL, v int)",
                            "CREATE UNIQUE INDEX i04_ri ON i04(n,at,t)",
                            "ALTER TABLE i04 REPLICA IDENTITY USING INDEX i04_ri");
            scenario.target().execute("CREATE TABLE i04(id int, t char(3), at timestamptz, n numeric, v int)");
            scenario.publish("i04").launch();
            scenario.publisher()
                    .execute("INSERT INTO i04 VALUES (7,'z',now(),9,0)", "UPDATE i04 SET v = 5 WHERE id = 7");

            String error = scenario.engine().awaitError("i04").toString();

            assertThat(error).contains("REPLICA IDENTITY");
            scenario.target()
                    .execute(
                            "ALTER TABLE i04 ALTER t SET NOT NULL, ALTER at SET NOT NULL, ALTER n SET NOT NULL",
                            "CREATE UNIQUE INDEX i04_ri ON i04(t, at, n)",
                            "ALTER TABLE i04 REPLICA IDENTITY USING INDEX i04_ri");
            scenario.engine().awaitStreaming();
            changeByIndex(scenario);
            scenario.assertSame("i04");
        }
    }

    private static void changeByIndex(Scenario scenario) {
        scenario.publisher()
                .execute(
                        "INSERT INTO i04 VALUES (1,'a','2024-01-01 00:00:00.000001+00',1.50,0),(2,'a','2024-01-01 00:00:00.000002+00',1.50,0),"
                                + "(3,'a','2024-01-01 00:00:00.000001+00',1.51,0)",
                        "UPDATE i04 SET v=1 WHERE id=2",
                        "UPDATE i04 SET id=id+100",
                        "UPDATE i04 SET at=at+interval '1 us' WHERE n=1.51",
                        "DELETE FROM i04 WHERE v=1");
    }
}
