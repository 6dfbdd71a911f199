package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose rows are sent under another table's name, or not all of them, or that change their shape: cases S03, S05, S06. */
class PartitionsAndFiltersIT {

    @Test
    void s03_a_shape_that_changes_in_the_middle_is_followed_and_what_the_target_lacks_stops() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TYPE st AS ENUM('a','b')", "CREATE TABLE s03(id int PRIMARY KEY, s st)")
                    .publish("s03");
            scenario.start();
            scenario.target().execute("ALTER TABLE s03 ADD COLUMN n int");
            scenario.publisher()
                    .transaction(
                            "INSERT INTO s03 VALUES(1,'a')",
                            "ALTER TABLE s03 ADD COLUMN n int",
                            "INSERT INTO s03 VALUES(2,'b',7)");
            scenario.assertSame("s03");
            scenario.onBoth("ALTER TYPE st ADD VALUE 'mid' BEFORE 'b'");
            scenario.publisher().execute("INSERT INTO s03 VALUES(3,'mid',8)");
            scenario.assertSame("s03");
            scenario.stop();
            scenario.publisher().execute("ALTER TABLE s03 ADD COLUMN z text", "INSERT INTO s03 VALUES(4,'a',1,'zz')");

            scenario.launch();

            assertThat(scenario.engine()
                            .awaitError("missing replicated column: \"z\"")
                            .toString())
                    .contains("public.s03");
            assertThat(scenario.target().number("SELECT count(*) FROM s03")).isEqualTo(3);
            scenario.target().execute("ALTER TABLE s03 ADD COLUMN z text");
            scenario.assertSame("s03");
            scenario.publisher().execute("ALTER TABLE s03 RENAME n TO m", "UPDATE s03 SET m=70 WHERE id=2");
            assertThat(scenario.engine()
                            .awaitError("missing replicated column: \"m\"")
                            .toString())
                    .contains("public.s03");
            scenario.target().execute("ALTER TABLE s03 RENAME n TO m");
            scenario.assertSame("s03");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PARTITION BY HASH (id)", ""})
    void s05_rows_go_by_the_root_however_the_target_stores_them(String partitioning) {
        try (Scenario scenario = Scenario.shared()) {
            partitionedEvents(scenario.publisher());
            scenario.publisher()
                    .execute(
                            "CREATE TABLE base(id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid(extra int, PRIMARY KEY(id)) INHERITS(base)",
                            "INSERT INTO base VALUES (1,'b')",
                            "INSERT INTO kid VALUES (2,'k',9)",
                            "CREATE PUBLICATION pb FOR TABLE ev, ONLY base, kid WITH (publish_via_partition_root=true)");
            scenario.target()
                    .execute(
                            "CREATE TABLE ev(id int, d date, v text, PRIMARY KEY(id,d)) " + partitioning,
                            "CREATE TABLE base(id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid(id int PRIMARY KEY, v text, extra int)");
            for (int remainder = 0; remainder < 4 && !partitioning.isEmpty(); remainder++) {
                scenario.target()
                        .execute("CREATE TABLE part" + remainder
                                + " PARTITION OF ev FOR VALUES WITH (MODULUS 4, REMAINDER " + remainder + ")");
            }
            scenario.start();
            scenario.assertSame("ev");

            scenario.publisher()
                    .execute(
                            "UPDATE ev SET d=d+interval '1 year' WHERE extract(year FROM d)=2020 AND id<10",
                            "CREATE TABLE ev22 PARTITION OF ev FOR VALUES FROM('2022-01-01') TO('2023-01-01')",
                            "INSERT INTO ev VALUES(900,'2022-05-05','n')",
                            "UPDATE base SET v=v||'!'");

            scenario.assertSame("ev");
            assertThat(scenario.target().column("SELECT base::text FROM base")).containsExactly("(1,b!)");
            assertThat(scenario.target().column("SELECT kid::text FROM kid")).containsExactly("(2,k!,9)");
            scenario.publisher().execute("TRUNCATE ev", "INSERT INTO ev VALUES(901,'2021-05-05','after')");
            scenario.assertSame("ev");
        }
    }

    private static void partitionedEvents(Database database) {
        database.execute(
                "CREATE TABLE ev(id int, d date, v text, PRIMARY KEY(id,d)) PARTITION BY RANGE(d)",
                "CREATE TABLE ev20(v text, x int, d date NOT NULL, id int NOT NULL)",
                "ALTER TABLE ev20 DROP COLUMN x",
                "ALTER TABLE ev ATTACH PARTITION ev20 FOR VALUES FROM('2020-01-01') TO('2021-01-01')",
                "CREATE TABLE ev21 PARTITION OF ev FOR VALUES FROM('2021-01-01') TO('2022-01-01')",
                "INSERT INTO ev SELECT g, '2020-01-01'::date + g * 7, 'v' || g FROM generate_series(1,100) g");
    }

    @Test
    void s05_leaves_that_are_published_by_themselves_go_to_leaves_of_the_same_name() {
        try (Scenario scenario = Scenario.shared()) {
            partitionedEvents(scenario.publisher());
            partitionedEvents(scenario.target());
            scenario.target().execute("TRUNCATE ev");
            scenario.publish("ev").start();

            scenario.publisher()
                    .execute("UPDATE ev SET d=d+interval '1 year' WHERE extract(year FROM d)=2020 AND id<10");

            scenario.assertSame("ev20", "ev21");
            // A leaf that comes later is told, not lost: it waits for a refresh.
            scenario.onBoth("CREATE TABLE ev22 PARTITION OF ev FOR VALUES FROM('2022-01-01') TO('2023-01-01')");
            scenario.publisher().execute("INSERT INTO ev VALUES(900,'2022-05-05','n')");
            scenario.awaitCaughtUp();
            assertThat(scenario.engine().log()).contains("table \"public.ev22\" is published but not part");
            assertThat(scenario.target().number("SELECT count(*) FROM ev22")).isZero();

            assertThat(scenario.engine()
                            .rest()
                            .command(scenario.slot(), "refresh")
                            .status())
                    .isEqualTo(200);

            scenario.publisher()
                    .execute("UPDATE ev SET v='later' WHERE id=900", "INSERT INTO ev VALUES(901,'2022-05-06','n')");
            Wait.until(
                    "the leaf's rows", () -> scenario.target().number("SELECT count(*) FROM ev22 WHERE id=901") == 1);
            scenario.assertSame("ev20", "ev21", "ev22");
        }
    }

    @Test
    void s06_rows_that_move_into_a_filter_come_and_those_that_move_out_go() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE s06(id int PRIMARY KEY, region text, amt int)");
            scenario.publisher()
                    .execute(
                            "ALTER TABLE s06 REPLICA IDENTITY FULL",
                            "CREATE PUBLICATION pb FOR TABLE s06 WHERE (region='us')",
                            "INSERT INTO s06 VALUES (1,'us',1),(2,'eu',1),(3,NULL,1),(4,'us',1)");
            scenario.start();
            assertThat(scenario.target().column("SELECT id FROM s06 ORDER BY id"))
                    .containsExactly("1", "4");

            scenario.publisher()
                    .execute(
                            "UPDATE s06 SET region='eu' WHERE id=1",
                            "UPDATE s06 SET region='us' WHERE id=2",
                            "UPDATE s06 SET amt=5 WHERE id=2",
                            "UPDATE s06 SET region='us' WHERE id=3",
                            "UPDATE s06 SET region=NULL WHERE id=3",
                            "UPDATE s06 SET id=40 WHERE id=4",
                            "DELETE FROM s06 WHERE id=1");

            scenario.awaitCaughtUp();
            assertThat(scenario.target().column("SELECT s06::text FROM s06 ORDER BY id"))
                    .containsExactly("(2,us,5)", "(40,us,1)");
        }
    }

    @Test
    void s06_two_publications_let_through_what_either_filter_does() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE s06(id int PRIMARY KEY, region text, amt int)");
            scenario.publisher()
                    .execute(
                            "ALTER TABLE s06 REPLICA IDENTITY FULL",
                            "CREATE PUBLICATION pb FOR TABLE s06 WHERE (region='us')",
                            "CREATE PUBLICATION rich FOR TABLE s06 WHERE (amt>3)",
                            "INSERT INTO s06 VALUES (1,'us',1),(2,'eu',9),(3,'eu',1)");
            scenario.option("publications", "[pb, rich]").start();
            String either = "SELECT * FROM s06 WHERE region='us' OR amt>3";
            TableComparison.of(scenario.pair()).assertSameRows(either);
            assertThat(scenario.target().number("SELECT count(*) FROM s06")).isEqualTo(2);

            scenario.publisher()
                    .execute(
                            "UPDATE s06 SET region='eu' WHERE id=1",
                            "UPDATE s06 SET amt=4 WHERE id=3",
                            "UPDATE s06 SET region='us', amt=0 WHERE id=2",
                            "INSERT INTO s06 VALUES (5,'eu',0),(6,'us',0),(7,'eu',4)");

            scenario.awaitCaughtUp();
            TableComparison.of(scenario.pair()).assertSameRows(either);
            assertThat(scenario.target().column("SELECT id FROM s06 ORDER BY id"))
                    .containsExactly("2", "3", "6", "7");
        }
    }
}
