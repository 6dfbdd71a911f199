package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

/** Values that other tools bend: cases T01, T03, T04, T06, T08. */
class TypesIT {

    @Test
    void t01_numerics_keep_specials_digits_and_scale() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t01(id int PRIMARY KEY, n numeric, m numeric(12,4), a numeric[])")
                    .publish("t01");

            BothPaths.run(
                    scenario,
                    "t01",
                    "INSERT INTO source VALUES (1,'NaN','NaN','{NaN,1}'),(2,'Infinity',NULL,'{-Infinity}'),(3,'-Infinity',1,NULL),"
                            + " (4,repeat('9',131072)::numeric,NULL,NULL),(5,('0.'||repeat('0',16382)||'1')::numeric,NULL,NULL),"
                            + " (6,1.10,1.1,'{1.10,1.1}'),(7,-0.000,0,'{}'),(8,1e-40,NULL,NULL)",
                    "UPDATE t01 SET m=m WHERE id%2=0 AND :half",
                    "UPDATE t01 SET n='Infinity' WHERE n='NaN' AND :half");

            assertThat(scenario.target().column("SELECT n::text FROM t01 WHERE id % 1000 = 6"))
                    .containsExactly("1.10", "1.10");
        }
    }

    @Test
    void t03_times_and_intervals_are_not_folded_nor_moved_by_the_engines_time_zone() {
        try (Scenario scenario = Scenario.shared().jvmOption("-Duser.timezone=America/New_York")) {
            scenario.onBoth(
                            "CREATE TABLE t03(id int PRIMARY KEY, t time, tt timetz, i interval, ts timestamp, tz timestamptz)")
                    .publish("t03");

            BothPaths.run(
                    scenario,
                    "t03",
                    "INSERT INTO source VALUES"
                            + " (1,'24:00:00','24:00:00+00','-1 year -2 mons +3 days -04:05:06.789','2023-03-12 02:00:00','2023-11-05 01:30:00-04'),"
                            + " (2,'23:59:59.999999','00:00:00-15:59','1 mon','2023-03-12 02:59:59.999999','2023-11-05 01:30:00-05'),"
                            + " (3,'00:00','12:34:56.000001+05:45:30','30 days','2023-11-05 01:30:00','2023-03-12 06:59:59+00'),"
                            + " (4,NULL,NULL,'178000000 years','1970-01-01 00:00:00',NULL),(5,NULL,NULL,'-00:00:00.000001',NULL,NULL),"
                            + " (6,NULL,NULL,'24:00:00',NULL,NULL)",
                    "UPDATE t03 SET ts=ts WHERE id%1000<4 AND :half");

            assertThat(scenario.target().column("SELECT i::text FROM t03 WHERE id IN (2, 3, 6) ORDER BY id"))
                    .containsExactly("1 mon", "30 days", "24:00:00");
        }
    }

    @Test
    void t04_arrays_keep_null_elements_bounds_and_dimensions() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t04(id int PRIMARY KEY, i int[], x text[], b box[], y bytea[])")
                    .publish("t04");

            BothPaths.run(
                    scenario,
                    "t04",
                    "INSERT INTO source VALUES (1,'{1,NULL,3}','{NULL,\"NULL\",\"\",null,\"a,b\",\"q\\\"x\",\"b\\\\s\",\" lead \",\"{}\"}',NULL,NULL),"
                            + " (2,'{}','{}','{}','{}'),(3,NULL,NULL,NULL,NULL),"
                            + " (4,'{{1,2},{3,NULL}}','{{a},{b}}','{(2,2),(0,0);(3,3),(1,1)}','{\"\\\\x00ff\",NULL}'),"
                            + " (5,'[3:5]={7,8,9}','[-1:0]={a,b}',NULL,NULL),(6,'[0:1][-1:0]={{1,2},{3,4}}',NULL,NULL,NULL)",
                    "UPDATE t04 SET x=x||'z'::text WHERE id%1000=2 AND :half",
                    "UPDATE t04 SET i[2]=NULL WHERE id%1000=1 AND :half",
                    "UPDATE t04 SET i[2][2]=9 WHERE id%1000=4 AND :half");

            assertThat(scenario.target()
                            .column("SELECT concat_ws(' ', id % 1000, array_lower(i, 1), array_ndims(i), i IS NULL)"
                                    + " FROM t04 WHERE id % 1000 IN (2, 3, 5, 6) ORDER BY id % 1000, id"))
                    .containsExactly("2 f", "2 f", "3 t", "3 t", "5 3 1 f", "5 3 1 f", "6 0 2 f", "6 0 2 f");
        }
    }

    @Test
    void t06_json_jsonb_and_xml_arrive_byte_for_byte() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth("CREATE TABLE t06(id int PRIMARY KEY, j json, b jsonb, x xml)")
                    .publish("t06");

            BothPaths.run(
                    scenario,
                    "t06",
                    "INSERT INTO source VALUES (1,'{\"k\":1, \"k\":2,  \"z\":\"\\u0000\"}','{\"n\":1.0,\"m\":1.00,\"u\":\"\\u00e9\"}','<a b=\"1\">&amp;<!-- c --></a>'),"
                            + " (2,'null','null',NULL),(3,NULL,NULL,'text only'),"
                            + " (4,'[1e400,12345678901234567890.1234567890]','[12345678901234567890.1234567890]',NULL),"
                            + " (5,E'\"line\\\\nbreak\"','\"\\ud83d\\ude00\"','<?xml version=\"1.0\"?><r/>')",
                    "UPDATE t06 SET b=b||'{\"added\":true}' WHERE id%1000=1 AND :half");

            assertThat(scenario.target().column("SELECT j::text FROM t06 WHERE id % 1000 IN (1, 2) ORDER BY id"))
                    .containsExactly(
                            "{\"k\":1, \"k\":2,  \"z\":\"\\u0000\"}",
                            "null",
                            "{\"k\":1, \"k\":2,  \"z\":\"\\u0000\"}",
                            "null");
            assertThat(scenario.target().number("SELECT count(*) FROM t06 WHERE id % 1000 = 3 AND j IS NULL"))
                    .isEqualTo(2);
        }
    }

    private static final String T08 =
            "CREATE TABLE t08(id int PRIMARY KEY, b3 bit(3), vb bit varying(70), by bytea, ch \"char\", nm name,"
                    + " o oid, rc regclass, lsn pg_lsn, sn pg_snapshot, tv tsvector, tq tsquery, u uuid, ip inet, ci cidr, m8 macaddr8,"
                    + " p point, pl polygon, f4 float4, f8 float8, bo bool, x8 xid8)";

    @Test
    void t08_the_long_tail_of_types_arrives_whole() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(T08).publish("t08");

            BothPaths.run(
                    scenario,
                    "t08",
                    "INSERT INTO source VALUES (1,B'101',B'',(SELECT string_agg(decode(lpad(to_hex(g),2,'0'),'hex'),''::bytea) FROM generate_series(0,255) g),"
                            + " '\\300'::\"char\",repeat('n',63),4294967295,'t08','FFFFFFFF/FFFFFFFF','10:20:10,14,15','''a b'':1A,3 c:2B','a & !b:*',"
                            + " '00000000-0000-0000-0000-000000000001','10.1.0.0/16','10.1.0.0/16','08:00:2b:01:02:03:04:05','(1e-300,-0)','((0,0),(1,1))',"
                            + " 'NaN','-0',true,'18446744073709551615'),"
                            + " (2,B'000',repeat('10',35)::varbit,'','a','',0,NULL,'0/0',NULL,'','','ffffffff-ffff-ffff-ffff-ffffffffffff','::1',NULL,NULL,NULL,NULL,"
                            + " '1e-45',0.1::float8+0.2::float8,false,'0'),"
                            + " (3,NULL,NULL,decode(repeat('00',1048576),'hex'),NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"
                            + " '-Infinity',4.9e-324,NULL,NULL)",
                    "UPDATE t08 SET bo=NOT bo WHERE :half");
        }
    }

    @Test
    void t08_a_value_that_the_target_cannot_take_stops_with_its_column_and_drops_nothing() {
        try (Scenario scenario = Scenario.shared()) {
            scenario.onBoth(T08).publish("t08");
            scenario.publisher().execute("CREATE TABLE only_here()");
            scenario.start();

            scenario.publisher().execute("INSERT INTO t08(id, rc) VALUES (1, 'only_here')");

            JsonNode error = scenario.engine().awaitError("only_here");
            assertThat(error.toString()).contains("t08").contains("rc");
            assertThat(scenario.target().number("SELECT count(*) FROM t08")).isZero();
            scenario.target().execute("CREATE TABLE only_here()");
            scenario.assertSame("t08");
        }
    }
}
