package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Order and uniqueness inside a batch: cases R01, R03, R05. */
class OrderIT {

    private static final String R01 =
            "CREATE TABLE r01(id int PRIMARY KEY, u int UNIQUE, d int UNIQUE DEFERRABLE INITIALLY IMMEDIATE)";

    @Test
    void r01_unique_values_that_are_swapped_end_up_swapped() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(R01).publish("r01");
            scenario.publisher().execute("INSERT INTO r01 VALUES (1,1,1),(2,2,2),(3,3,3)");
            scenario.start();

            scenario.publisher()
                    .transaction(
                            "UPDATE r01 SET u=NULL WHERE id=1",
                            "UPDATE r01 SET u=1 WHERE id=2",
                            "UPDATE r01 SET u=2 WHERE id=1");
            scenario.assertSame("r01");
            scenario.publisher().execute("UPDATE r01 SET d=4-d");
            scenario.assertSame("r01");
            scenario.publisher()
                    .transaction(
                            "SET CONSTRAINTS ALL DEFERRED",
                            "UPDATE r01 SET d=3 WHERE id=2",
                            "UPDATE r01 SET d=2 WHERE id=1",
                            "UPDATE r01 SET d=1 WHERE id=3");
            scenario.publisher().transaction("DELETE FROM r01 WHERE id=3", "INSERT INTO r01 VALUES(4,3,1)");

            scenario.assertSame("r01");
        }
    }

    @Test
    void r01_the_same_swaps_arrive_in_one_backlog() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(R01).publish("r01");
            scenario.publisher().execute("INSERT INTO r01 VALUES (1,1,1),(2,2,2),(3,3,3)");
            scenario.start();
            scenario.stop();

            scenario.publisher()
                    .transaction(
                            "UPDATE r01 SET u=NULL WHERE id=1",
                            "UPDATE r01 SET u=1 WHERE id=2",
                            "UPDATE r01 SET u=2 WHERE id=1");
            scenario.publisher().execute("UPDATE r01 SET d=4-d");
            scenario.publisher().transaction("DELETE FROM r01 WHERE id=3", "INSERT INTO r01 VALUES(4,3,1)");
            scenario.launch();

            scenario.assertSame("r01");
        }
    }

    @Test
    void r01_a_swap_that_the_targets_constraint_refuses_stops_and_applies_nothing_of_it() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.publisher().execute(R01, "INSERT INTO r01 VALUES (1,1,1),(2,2,2),(3,3,3)");
            scenario.target().execute("CREATE TABLE r01(id int PRIMARY KEY, u int UNIQUE, d int UNIQUE)");
            scenario.publish("r01").start();

            scenario.publisher().execute("UPDATE r01 SET d=4-d");

            assertThat(scenario.engine().awaitError("r01_d_key").toString()).contains("r01");
            assertThat(scenario.target().column("SELECT d FROM r01 ORDER BY id"))
                    .containsExactly("1", "2", "3");
            scenario.target()
                    .execute(
                            "ALTER TABLE r01 DROP CONSTRAINT r01_d_key",
                            "ALTER TABLE r01 ADD UNIQUE (d) DEFERRABLE INITIALLY IMMEDIATE");
            scenario.assertSame("r01");
        }
    }

    @Test
    void r03_chains_on_one_key_and_shifted_keys_keep_their_order() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE r03(id int PRIMARY KEY, v text)")
                    .publish("r03")
                    .start();
            scenario.stop();

            scenario.publisher()
                    .execute(
                            "INSERT INTO r03 VALUES(1,'a'),(2,'b')",
                            "UPDATE r03 SET v='a2' WHERE id=1",
                            "UPDATE r03 SET v='a3' WHERE id=1",
                            "DELETE FROM r03 WHERE id=2",
                            "INSERT INTO r03 VALUES(2,'b2')",
                            "DELETE FROM r03 WHERE id=1",
                            "INSERT INTO r03 VALUES(1,'a4')",
                            "DELETE FROM r03 WHERE id=1",
                            "INSERT INTO r03 VALUES(3,'c')",
                            "DELETE FROM r03 WHERE id=3");
            scenario.publisher()
                    .transaction(
                            "INSERT INTO r03 VALUES(4,'d')",
                            "UPDATE r03 SET id=5 WHERE id=4",
                            "UPDATE r03 SET id=6 WHERE id=5",
                            "INSERT INTO r03 VALUES(4,'d2')");
            scenario.publisher()
                    .execute(
                            "INSERT INTO r03 SELECT g,'s'||g FROM generate_series(30000,20001,-1) g",
                            "UPDATE r03 SET id=id+1 WHERE id>20000");
            scenario.launch();

            scenario.assertSame("r03");
            assertThat(scenario.target().column("SELECT t::text FROM r03 t WHERE id < 20000 ORDER BY id"))
                    .containsExactly("(2,b2)", "(4,d2)", "(6,d)");
            assertThat(scenario.target().number("SELECT count(*) FROM r03 WHERE v = 's' || (id - 1)"))
                    .isEqualTo(10_000);
        }
    }

    @Test
    void r05_truncate_is_applied_in_its_place() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE r05(id int PRIMARY KEY, v text)", "CREATE TABLE r05b(id int PRIMARY KEY)")
                    .publish("r05", "r05b")
                    .start();
            scenario.stop();

            scenario.publisher().execute("INSERT INTO r05 VALUES(1,'old'),(2,'old')");
            scenario.publisher()
                    .transaction(
                            "INSERT INTO r05 VALUES(3,'x')",
                            "TRUNCATE r05",
                            "INSERT INTO r05 VALUES(1,'new')",
                            "INSERT INTO r05b VALUES(1)");
            scenario.publisher().execute("TRUNCATE r05b, r05", "INSERT INTO r05 VALUES(7,'z')");
            scenario.publisher().execute("BEGIN; TRUNCATE r05; ROLLBACK");
            scenario.publisher()
                    .transaction("INSERT INTO r05 VALUES(8,'k')", "SAVEPOINT s", "TRUNCATE r05", "ROLLBACK TO s");
            scenario.launch();

            scenario.assertSame("r05", "r05b");
            assertThat(scenario.target().column("SELECT t::text FROM r05 t ORDER BY id"))
                    .containsExactly("(7,z)", "(8,k)");
        }
    }

    @Test
    void r05_a_truncate_that_is_not_published_leaves_the_target_its_rows() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE r05(id int PRIMARY KEY)");
            scenario.publisher().execute("CREATE PUBLICATION pb FOR TABLE r05 WITH (publish = 'insert,update,delete')");
            scenario.start();

            scenario.publisher()
                    .execute("INSERT INTO r05 VALUES (1), (2)", "TRUNCATE r05", "INSERT INTO r05 VALUES (7)");

            scenario.awaitCaughtUp();
            assertThat(scenario.target().column("SELECT id FROM r05 ORDER BY id"))
                    .containsExactly("1", "2", "7");
        }
    }
}
