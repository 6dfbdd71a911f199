package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.Wait;
import org.junit.jupiter.api.Test;

/** What changes under a running subscription on either side, and what an operator then sees: cases I06, F06 e and f, F08. */
class DriftIT {

    @Test
    void i06_a_change_of_replica_identity_is_followed_without_a_stop() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE i06(id int PRIMARY KEY, u int NOT NULL UNIQUE, v text)")
                    .publish("i06");
            scenario.publisher().execute("INSERT INTO i06 SELECT g, g, 'x' FROM generate_series(1, 4) g");
            scenario.start();

            scenario.publisher()
                    .execute(
                            "UPDATE i06 SET v='1' WHERE id=1",
                            "ALTER TABLE i06 REPLICA IDENTITY FULL",
                            "UPDATE i06 SET v='2' WHERE id=1",
                            "UPDATE i06 SET id=50 WHERE id=2",
                            "ALTER TABLE i06 REPLICA IDENTITY USING INDEX i06_u_key",
                            "UPDATE i06 SET u=60 WHERE id=50",
                            "UPDATE i06 SET id=51 WHERE u=60",
                            "DELETE FROM i06 WHERE id=3");
            scenario.assertSame("i06");
            scenario.publisher()
                    .execute(
                            "ALTER TABLE i06 REPLICA IDENTITY NOTHING",
                            "INSERT INTO i06 VALUES(9,9,'n')",
                            "TRUNCATE i06",
                            "INSERT INTO i06 VALUES(10,10,'t')",
                            "ALTER TABLE i06 REPLICA IDENTITY DEFAULT",
                            "UPDATE i06 SET v='end' WHERE id=10");

            scenario.assertSame("i06");
            assertThat(scenario.engine().log()).doesNotContain("ERROR");
        }
    }

    @Test
    void f06_e_a_publication_that_was_made_anew_stops_before_the_changes_in_between_are_passed_by() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE f06(id int PRIMARY KEY, v text)")
                    .publish("f06")
                    .start();

            scenario.publisher()
                    .execute(
                            "INSERT INTO f06 VALUES (31, 'ok')",
                            "DROP PUBLICATION " + DatabasePair.PUBLICATION,
                            "INSERT INTO f06 VALUES (32, 'nopub')");
            scenario.publish("f06").publisher().execute("INSERT INTO f06 VALUES (33, 'again')");

            assertThat(scenario.engine()
                            .awaitError("publication \"" + DatabasePair.PUBLICATION + "\"")
                            .toString())
                    .contains("does not exist")
                    .contains("set the subscription up again");
            scenario.stop();
            scenario.launch();
            scenario.engine().awaitError("publication \"" + DatabasePair.PUBLICATION + "\"");
            assertThat(scenario.target().column("SELECT id FROM f06")).containsExactly("31");
        }
    }

    @Test
    void f06_f_a_publication_that_is_missing_is_reported_although_nothing_is_written() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE f06(id int PRIMARY KEY)")
                    .publish("f06")
                    .start();

            scenario.publisher().execute("DROP PUBLICATION " + DatabasePair.PUBLICATION);

            scenario.engine().awaitError("publication \"" + DatabasePair.PUBLICATION + "\" does not exist");
            scenario.publish("f06").publisher().execute("INSERT INTO f06 VALUES (1)");
            scenario.assertSame("f06");
        }
    }

    @Test
    void f08_a_poison_transaction_is_one_error_that_is_counted_until_the_row_is_mended() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE f08(id int PRIMARY KEY, v text)", "CREATE TABLE f08b(id int PRIMARY KEY)")
                    .publish("f08", "f08b")
                    .start();
            scenario.target().execute("INSERT INTO f08 VALUES (100, 'local')");

            scenario.publisher().transaction("INSERT INTO f08b VALUES (1)", "INSERT INTO f08 VALUES (100, 'remote')");

            scenario.engine().awaitError("f08_pkey");
            Wait.until(
                    "the error to be counted",
                    () -> scenario.engine().status().at("/last_error/count").asInt() >= 3);
            // The copy's end is the only time that it streamed.
            assertThat(scenario.engine().log().split("-> streaming", -1)).hasSize(2);
            assertThat(scenario.target().number("SELECT count(*) FROM f08b")).isZero();
            scenario.target().execute("DELETE FROM f08 WHERE id = 100");
            scenario.assertSame("f08", "f08b");
            Wait.until(
                    "the error to be forgotten",
                    () -> scenario.engine().status().path("last_error").isNull());
        }
    }

    @Test
    void state_of_subscriptions_into_the_publisher_is_not_applied_to_the_targets_own() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY)");
            scenario.publisher()
                    .execute(
                            "CREATE SCHEMA pgapply",
                            "CREATE TABLE pgapply.epoch(subid int PRIMARY KEY, epoch bigint)",
                            "INSERT INTO pgapply.epoch VALUES (1, 1)",
                            "CREATE PUBLICATION " + DatabasePair.PUBLICATION + " FOR ALL TABLES");
            scenario.start();

            scenario.publisher().execute("INSERT INTO pgapply.epoch VALUES (2, 2)", "INSERT INTO t VALUES (1)");

            scenario.assertSame("t");
            assertThat(scenario.target().number("SELECT count(*) FROM pgapply.epoch WHERE subid IN (1, 2)"))
                    .isZero();
        }
    }
}
