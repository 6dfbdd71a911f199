package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Wait;
import org.junit.jupiter.api.Test;

/** The option {@code binary}: when values travel in binary form, that they arrive whole, and what happens when the types part. */
class BinaryIT {

    private static final String ODD =
            "(id int PRIMARY KEY, n numeric, m numeric(12,4), an numeric[], t time, tt timetz,"
                    + " i interval, ts timestamp(3), tz timestamptz, ai int[], ax text[], ab box[], ay bytea[], j json, jb jsonb, x xml,"
                    + " b3 bit(3), vb varbit(70), by bytea, ch \"char\", nm name, o oid, lsn pg_lsn, sn pg_snapshot, tv tsvector,"
                    + " u uuid, ip inet, m8 macaddr8, p point, pl polygon, f4 float4, f8 float8, bo bool, x8 xid8, c char(5),"
                    + " vc varchar(9), r int4range, mr datemultirange, e mood, big text)";

    private static final String ROWS = "INSERT INTO source VALUES"
            + " (1,'NaN',1.1,'{NaN,1.10,NULL}','24:00','00:00:00-15:59','-1 year -2 mons +3 days -04:05:06.789',"
            + "'2023-03-12 02:00:00.1235','2023-11-05 01:30:00-04','[0:1][-1:0]={{1,2},{3,4}}','{NULL,\"NULL\",\"\",\"a,b\"}',"
            + "'{(2,2),(0,0);(3,3),(1,1)}','{\"\\\\x00ff\",NULL}','{ \"b\" : 1,\"a\":1e2 }','{\"a\": [1, null]}','<a>ä</a>',"
            + "B'101',B'',decode('00ff','hex'),'\\300'::\"char\",repeat('n',63),4294967295,'FFFFFFFF/FFFFFFFF','10:20:10,14,15',"
            + "'''a b'':1A,3 c:2B','00000000-0000-0000-0000-000000000001','10.1.0.0/16','08:00:2b:01:02:03:04:05','(1e-300,-0)',"
            + "'((0,0),(1,1))','NaN','-0',true,'18446744073709551615','ab','é',  '[1,5)','{[2024-01-01,2024-02-01)}','very happy',"
            + "(SELECT string_agg(md5(g::text), '') FROM generate_series(1, 900) g)),"
            + " (2,'-Infinity',NULL,'{}','00:00','12:34:56.000001+05:45:30','178000000 years','infinity','-infinity','{}','{}','{}',"
            + "'{}','null','null','<b/>',B'000',repeat('10',35)::varbit,'','a','',0,'0/0',NULL,'',"
            + "'ffffffff-ffff-ffff-ffff-ffffffffffff','::1',NULL,NULL,NULL,'1e-45',0.1::float8+0.2::float8,false,'0','','',"
            + "'empty','{}','sad',''); INSERT INTO source(id) VALUES (3);"
            + " INSERT INTO source(id, n) VALUES (4, ('0.' || repeat('0', 16382) || '1')::numeric)";

    @Test
    void values_of_every_sort_arrive_whole_in_binary_form() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TYPE mood AS ENUM ('sad', 'very happy')", "CREATE TABLE odd " + ODD)
                    .publish("odd");
            scenario.publisher().execute("ALTER TABLE odd ALTER big SET STORAGE EXTERNAL");

            BothPaths.run(
                    scenario,
                    "odd",
                    ROWS,
                    "UPDATE odd SET bo = NOT bo, n = n WHERE id % 2 = 1 AND :half",
                    "UPDATE odd SET e = 'sad', ai[2] = NULL, tz = NULL WHERE id % 1000 = 2 AND :half");
            assertBinary(scenario, true);

            scenario.publisher()
                    .execute("UPDATE odd SET id = id + 5000 WHERE id % 2 = 0", "DELETE FROM odd WHERE id = 1003");
            scenario.assertSame("odd");
        }
    }

    @Test
    void rows_found_by_all_columns_and_rows_with_triggers_take_binary_values() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(
                            "CREATE TYPE mood AS ENUM ('sad', 'ok')",
                            "CREATE TABLE whole(a int, b text, c float8, d numeric, e mood, f timestamptz)",
                            "ALTER TABLE whole REPLICA IDENTITY FULL",
                            "CREATE TABLE fired(id bigint PRIMARY KEY, n numeric, a int[], e mood, t text)")
                    .publish("whole", "fired");
            scenario.target()
                    .execute(
                            "CREATE TABLE seen(n int)",
                            "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS"
                                    + " $$ BEGIN INSERT INTO public.seen VALUES (1); RETURN coalesce(new, old); END $$",
                            "CREATE TRIGGER see BEFORE INSERT OR UPDATE OR DELETE ON fired FOR EACH ROW EXECUTE FUNCTION see()",
                            "ALTER TABLE fired ENABLE ALWAYS TRIGGER see");
            scenario.start();
            assertBinary(scenario, true);

            scenario.publisher()
                    .execute(
                            "INSERT INTO whole SELECT g % 7, NULLIF(g % 3, 0)::text, 'NaN', g * 1.50, 'ok', '2024-01-01' FROM"
                                    + " generate_series(1, 300) g",
                            "INSERT INTO whole SELECT 1, NULL, -0.0, 1.5, 'sad', NULL FROM generate_series(1, 3)",
                            "UPDATE whole SET b = 'x', e = 'sad' WHERE ctid = (SELECT max(ctid) FROM whole)",
                            "DELETE FROM whole WHERE ctid IN (SELECT ctid FROM whole ORDER BY ctid LIMIT 20)",
                            "INSERT INTO fired SELECT g, g / 3.0, ARRAY[g, NULL], 'ok', repeat('t', g) FROM generate_series(1, 40) g",
                            "UPDATE fired SET n = NULL, id = id + 100 WHERE id % 2 = 0",
                            "DELETE FROM fired WHERE id < 10");
            scenario.assertSame("whole", "fired");
            assertThat(scenario.target().number("SELECT count(*) FROM seen")).isPositive();
        }
    }

    @Test
    void auto_asks_for_text_where_one_columns_type_is_another() {
        for (String type :
                new String[] {"int,bigint", "numeric,int", "regclass,regclass", "tsquery,tsquery", "mood,text"}) {
            String[] sides = type.split(",", -1);
            try (Scenario scenario = Scenario.shared()) {
                scenario.onBoth("CREATE TYPE mood AS ENUM ('sad')")
                        .publisher()
                        .execute("CREATE TABLE t(id int PRIMARY KEY, v " + sides[0] + ")");
                scenario.target().execute("CREATE TABLE t(id int PRIMARY KEY, v " + sides[1] + ")");
                scenario.publish("t").start();
                assertBinary(scenario, false);

                scenario.publisher().execute("INSERT INTO t VALUES (1, NULL), (2, NULL)");
                scenario.assertSame("t");
            }
        }
    }

    @Test
    void when_types_part_while_streaming_the_stream_goes_on_as_text() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY, v int)")
                    .publish("t")
                    .start();
            scenario.publisher().execute("INSERT INTO t SELECT g, g FROM generate_series(1, 200) g");
            scenario.awaitCaughtUp();
            assertBinary(scenario, true);

            scenario.target().execute("ALTER TABLE t ALTER v TYPE bigint");
            Wait.until("the stream to come as text", () -> {
                scenario.publisher().execute("UPDATE t SET v = v + 1 WHERE id <= 100");
                return streams(scenario, false);
            });
            scenario.publisher().execute("INSERT INTO t VALUES (201, 2147483647)");
            scenario.awaitCaughtUp();
            assertThat(scenario.target().column("SELECT id || ' ' || v FROM t ORDER BY id"))
                    .isEqualTo(scenario.publisher().column("SELECT id || ' ' || v FROM t ORDER BY id"));
        }
    }

    @Test
    void a_new_column_of_another_type_makes_the_stream_text() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY)").publish("t").start();
            scenario.publisher().execute("INSERT INTO t VALUES (1)");
            scenario.awaitCaughtUp();
            assertBinary(scenario, true);

            scenario.target().execute("ALTER TABLE t ADD v numeric");
            scenario.publisher()
                    .execute("ALTER TABLE t ADD v int", "INSERT INTO t SELECT g, g FROM generate_series(2, 300) g");
            scenario.awaitCaughtUp();
            assertBinary(scenario, false);
            assertThat(scenario.target().number("SELECT sum(v) FROM t")).isEqualTo(45_149);
        }
    }

    @Test
    void changes_of_a_time_when_the_types_were_others_are_asked_for_as_text() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY, v int)")
                    .publish("t")
                    .start();
            scenario.stop();
            scenario.publisher()
                    .execute(
                            "INSERT INTO t SELECT g, g FROM generate_series(1, 200) g",
                            "ALTER TABLE t ALTER v TYPE bigint");
            scenario.target().execute("ALTER TABLE t ALTER v TYPE bigint");
            scenario.publisher().execute("INSERT INTO t VALUES (201, 9999999999)");

            scenario.start();
            scenario.assertSame("t");
            assertBinary(scenario, false);
        }
    }

    @Test
    void true_stops_where_the_target_cannot_take_the_bytes_and_goes_on_when_it_can() {
        try (Scenario scenario = Scenario.shared().option("binary", "true")) {
            scenario.onBoth("CREATE TABLE t(id int PRIMARY KEY, v int, s varchar(9))")
                    .publish("t");
            scenario.target().execute("ALTER TABLE t ALTER s TYPE text");
            scenario.start();
            scenario.publisher().execute("INSERT INTO t VALUES (1, 1, 'a')");
            scenario.awaitCaughtUp();
            assertBinary(scenario, true);
            scenario.stop();

            scenario.target().execute("ALTER TABLE t ALTER v TYPE numeric");
            scenario.publisher().execute("INSERT INTO t VALUES (2, 2, 'b')");
            scenario.launch();
            scenario.engine().awaitError("incorrect binary data format in logical replication column \"v\"");
            assertThat(scenario.target().number("SELECT count(*) FROM t")).isEqualTo(1);

            scenario.target().execute("ALTER TABLE t ALTER v TYPE int");
            scenario.assertSame("t");
        }
    }

    private static void assertBinary(Scenario scenario, boolean binary) {
        assertThat(streams(scenario, binary)).isTrue();
    }

    /** Whether the subscription's walsender was asked so. */
    private static boolean streams(Scenario scenario, boolean binary) {
        return scenario.publisher()
                .column("SELECT query LIKE '%binary ''true''%' FROM pg_stat_activity WHERE application_name = '"
                        + scenario.slot() + "' AND query LIKE 'START_REPLICATION%'")
                .contains(binary ? "t" : "f");
    }
}
