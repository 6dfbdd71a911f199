package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InitialCopyIT {

    private static final String ODD_TABLES = """
            CREATE SCHEMA "My Schema";
            CREATE TABLE "My Schema"."Sel""ect" ("From" int PRIMARY KEY, "a b" text, "ü\\x" numeric);
            CREATE DOMAIN posint AS int CHECK (value > 0);
            CREATE TYPE mood AS ENUM ('sad', 'ok''ay');
            CREATE TYPE pair AS (a int, b text);
            CREATE TABLE builtin (id bigint PRIMARY KEY, n numeric, f float8, t timestamptz, d date, i interval, b bytea,
                u uuid, j jsonb, js json, a int[], ta text[], r int4range, mr int4multirange, c char(5), v varchar(10), x xml, o oid,
                m money, bits varbit, ip inet, p point);
            CREATE TABLE userdefined (id posint PRIMARY KEY, m mood, p pair, ma mood[], reg regclass, regs regtype[]);
            CREATE TABLE nokey (v text);
            CREATE TABLE empty_one (id int PRIMARY KEY);
            CREATE TABLE nothing_in_it ();
            CREATE TABLE identity_one (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, q int, dbl int GENERATED ALWAYS AS (q * 2) STORED);
            """;

    private static final String ODD_ROWS = """
            INSERT INTO "My Schema"."Sel""ect" VALUES (1, 'tab\t, newline\n, \\N, \\.', 1.50), (2, NULL, 'NaN'), (3, '', -0.0);
            INSERT INTO builtin SELECT g, g / 7.0, CASE WHEN g = 1 THEN 'NaN' ELSE 0.1 * g END::float8, 'epoch'::timestamptz + g * '1 day'::interval,
                CASE WHEN g = 2 THEN 'infinity' ELSE '2024-02-03' END::date, '-1 mon +3 days -04:05:06'::interval, decode(md5(g::text), 'hex'),
                md5(g::text)::uuid, '{"a": [1, null, "ü"]}', '{"a" :  1, "a":2}', ARRAY[g, NULL], '[3:4]={NULL,"a,\\"b"}', int4range(g, g + 5),
                int4multirange(int4range(1, g + 2)), 'ab', 'x', '<a>ü</a>', g, 12.34::numeric::money, B'101', '10.0.0.1/8', point(g, 0.5)
                FROM generate_series(1, 1000) g;
            INSERT INTO userdefined VALUES (1, 'ok''ay', (1, 'x,"y'), '{sad}', 'nokey', '{int4,mood}'), (2, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO nokey SELECT 'r' || g % 10 FROM generate_series(1, 5000) g; INSERT INTO nokey VALUES (NULL), (NULL);
            INSERT INTO nothing_in_it DEFAULT VALUES; INSERT INTO nothing_in_it DEFAULT VALUES;
            INSERT INTO identity_one OVERRIDING SYSTEM VALUE VALUES (500, 5), (7, NULL);
            """;

    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void every_kind_of_table_is_the_same_on_both_sides(int publisherVersion) {
        RunOptions.takenByLongRunOnly(publisherVersion > 14 && publisherVersion < 18);
        try (DatabasePair pair = DatabasePair.shared(publisherVersion, 18)) {
            pair.onBoth(ODD_TABLES).publishAll();
            pair.publisher().execute(ODD_ROWS);

            SubscriptionRow row = run(pair);

            TableComparison.of(pair).assertAllTablesSame();
            assertThat(row.slotState()).isEqualTo(SlotState.READY);
            assertReady(pair, row);
        }
    }

    private static SubscriptionRow run(DatabasePair pair) {
        try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            return start.run();
        }
    }

    /** The slot stands at the consistent point, which all tables and the recorded idle position agree with; nothing else is left. */
    private static void assertReady(DatabasePair pair, SubscriptionRow row) {
        Lsn point = Objects.requireNonNull(row.consistentPoint());
        assertThat(pair.publisher().confirmedFlushLsn(pair.name())).isEqualTo(point);
        assertThat(pair.target().column("SELECT DISTINCT state::text || ' ' || sync_lsn FROM pgapply.subscription_rel"))
                .containsExactly("s " + point);
        assertThat(pair.target().column("SELECT idle_lsn FROM pgapply.origin_status"))
                .containsExactly(point.toString());
        assertThat(sessions(pair)).isZero();
    }

    private static long sessions(DatabasePair pair) {
        return pair.publisher()
                .number("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%" + pair.name() + "%'");
    }

    @Test
    void changes_after_the_consistent_point_are_not_copied_and_wait_in_the_slot() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)").publish("t");
            pair.publisher().execute("INSERT INTO t SELECT generate_series(1, 10)");

            run(pair);
            pair.publisher().execute("INSERT INTO t VALUES (11)");

            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(10);
            String inserts = "SELECT count(*) FROM pg_logical_slot_peek_binary_changes('" + pair.name()
                    + "', NULL, NULL, 'proto_version', '1', 'publication_names', 'pb') WHERE get_byte(data, 0) = ascii('I')";
            Wait.until("the one insert in the slot", () -> pair.publisher().number(inserts) == 1);
        }
    }

    @Test
    void any_of_several_row_filters_lets_a_row_through_and_one_without_a_filter_lets_all() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth(
                    "CREATE TABLE f (id int PRIMARY KEY, region text, amt int)",
                    "CREATE TABLE g (id int PRIMARY KEY, region text)");
            pair.publisher()
                    .execute(
                            "INSERT INTO f VALUES (1, 'us', 1), (2, 'eu', 1), (3, NULL, 1), (4, 'eu', 9)",
                            "INSERT INTO g VALUES (1, 'us'), (2, 'eu')",
                            "CREATE PUBLICATION pb FOR TABLE f WHERE (region = 'us'), g WHERE (region = 'us')",
                            "CREATE PUBLICATION pc FOR TABLE f WHERE (amt > 3), g");

            runWith(pair, "pb", "pc");

            assertThat(pair.target().column("SELECT id FROM f ORDER BY 1")).containsExactly("1", "4");
            assertThat(pair.target().column("SELECT id FROM g ORDER BY 1")).containsExactly("1", "2");
        }
    }

    private static SubscriptionRow runWith(DatabasePair pair, String... publications) {
        try (FirstStart start = FirstStart.of(FirstStart.options(pair, true, true, List.of(publications)))) {
            return start.run();
        }
    }

    @Test
    void a_column_list_leaves_the_other_columns_to_their_defaults() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher().execute("CREATE TABLE c (id int PRIMARY KEY, a text, secret text)");
            pair.target().execute("CREATE TABLE c (secret text DEFAULT 'none', a text, id int PRIMARY KEY)");
            pair.publish("c (a, id)").publisher().execute("INSERT INTO c VALUES (1, 'x', 'y')");

            run(pair);

            assertThat(pair.target().query("SELECT id, a, secret FROM c")).containsExactly(List.of("1", "x", "none"));
        }
    }

    @Test
    void different_column_lists_of_one_table_are_refused_in_postgresqls_words() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE c (id int PRIMARY KEY, a text)");
            pair.publisher()
                    .execute("CREATE PUBLICATION pb FOR TABLE c (id)", "CREATE PUBLICATION pc FOR TABLE c (id, a)");

            assertThatThrownBy(() -> runWith(pair, "pb", "pc"))
                    .hasMessage("cannot use different column lists for table \"public.c\" in different publications");
            assertNothingBegun(pair);
        }
    }

    private static void assertNothingBegun(DatabasePair pair) {
        assertThat(pair.publisher()
                        .column("SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"))
                .isEmpty();
        assertThat(pair.target().column("SELECT slot_state FROM pgapply.subscription"))
                .containsExactly("none");
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void a_partitioned_table_goes_by_its_root_and_an_inheritance_parent_by_itself(int publisherVersion) {
        try (DatabasePair pair = DatabasePair.shared(publisherVersion, 18)) {
            pair.publisher()
                    .execute(
                            "CREATE TABLE ev (id int, d date, v text, PRIMARY KEY (id, d)) PARTITION BY RANGE (d)",
                            "CREATE TABLE ev20 (v text, x int, d date NOT NULL, id int NOT NULL)",
                            "ALTER TABLE ev20 DROP COLUMN x",
                            "ALTER TABLE ev ATTACH PARTITION ev20 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')",
                            "CREATE TABLE ev21 PARTITION OF ev FOR VALUES FROM ('2021-01-01') TO ('2022-01-01')",
                            "CREATE TABLE base (id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid (extra int, PRIMARY KEY (id)) INHERITS (base)",
                            "INSERT INTO ev SELECT g, '2020-06-01'::date + g * 7, 'v' FROM generate_series(1, 70) g",
                            "INSERT INTO base VALUES (1, 'b')",
                            "INSERT INTO kid VALUES (2, 'k', 9)",
                            "CREATE PUBLICATION pb FOR TABLE ev, ONLY base, kid WITH (publish_via_partition_root = true)");
            pair.target()
                    .execute(
                            "CREATE TABLE ev (id int, d date, v text, PRIMARY KEY (id, d)) PARTITION BY HASH (id)",
                            "CREATE TABLE ev0 PARTITION OF ev FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
                            "CREATE TABLE ev1 PARTITION OF ev FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                            "CREATE TABLE base (id int PRIMARY KEY, v text)",
                            "CREATE TABLE kid (id int PRIMARY KEY, v text, extra int)");

            run(pair);

            TableComparison.of(pair).assertSame("ev");
            assertThat(pair.target().column("SELECT t::text FROM base t")).containsExactly("(1,b)");
            assertThat(pair.target().column("SELECT t::text FROM kid t")).containsExactly("(2,k,9)");
        }
    }

    @Test
    void a_target_that_is_not_empty_is_refused_before_anything_is_begun() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE a (id int)", "CREATE TABLE b (id int)", "CREATE TABLE c (id int)")
                    .publishAll();
            pair.target().execute("INSERT INTO a VALUES (1), (2), (3)", "INSERT INTO c VALUES (1)");

            assertThatThrownBy(() -> run(pair))
                    .hasMessage("target is not empty: table \"public.a\" has 3 rows, table \"public.c\" has 1 row")
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.PRECONDITION));
            assertNothingBegun(pair);
        }
    }

    @Test
    void a_slot_of_that_name_is_somebody_elses() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publishAll()
                    .publisher()
                    .execute("SELECT pg_create_logical_replication_slot('" + pair.name() + "', 'test_decoding')");

            assertThatThrownBy(() -> run(pair))
                    .hasMessageContaining("replication slot \"" + pair.name() + "\" already exists")
                    .hasMessageContaining("test_decoding");
            assertThat(pair.publisher()
                            .column("SELECT plugin FROM pg_replication_slots WHERE slot_name = '" + pair.name() + "'"))
                    .containsExactly("test_decoding");
        }
    }

    @Test
    void without_copy_the_tables_take_changes_from_the_consistent_point_on() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
                    .publish("t");

            SubscriptionRow row;
            try (FirstStart start = FirstStart.of(FirstStart.options(pair, true, false, List.of("pb")))) {
                row = start.run();
            }

            assertReady(pair, row);
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
        }
    }

    @Test
    void a_slot_made_by_hand_is_taken_where_it_stands() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)").publish("t");
            pair.publisher().execute("SELECT pg_create_logical_replication_slot('" + pair.name() + "', 'pgoutput')");

            SubscriptionRow row;
            try (FirstStart start = FirstStart.of(FirstStart.options(pair, false, false, List.of("pb")))) {
                row = start.run();
            }

            assertReady(pair, row);
        }
    }

    /** The target lacks one table, refuses a row of another, and cannot read a value of a third. */
    private static void breakTables(DatabasePair pair) {
        pair.onBoth("CREATE TABLE good (id int)", "CREATE TABLE good2 (id int)");
        pair.publisher()
                .execute(
                        "CREATE TABLE absent (id int)",
                        "CREATE TABLE refused (id bigint)",
                        "CREATE TABLE unread (id int, v text)",
                        "INSERT INTO absent VALUES (1)",
                        "INSERT INTO refused SELECT generate_series(1, 3000)",
                        "INSERT INTO unread VALUES (1, '17'), (2, 'x')",
                        "INSERT INTO good SELECT generate_series(1, 10)",
                        "INSERT INTO good2 SELECT generate_series(1, 10)");
        pair.target()
                .execute("CREATE TABLE refused (id bigint CHECK (id < 2000))", "CREATE TABLE unread (id int, v int)");
        pair.publishAll();
    }

    private static String recorded(DatabasePair pair, String column, String table) {
        return String.valueOf(pair.target()
                .value("SELECT " + column + " FROM pgapply.subscription_rel WHERE table_name = '" + table + "'"));
    }

    @Test
    void tables_that_cannot_be_copied_show_their_errors_and_stop_no_other() {
        try (DatabasePair pair = DatabasePair.shared()) {
            breakTables(pair);

            SubscriptionRow row = run(pair);

            assertThat(row.slotState()).isEqualTo(SlotState.READY);
            Lsn point = Objects.requireNonNull(row.consistentPoint());
            assertThat(pair.publisher().confirmedFlushLsn(pair.name())).isEqualTo(point);
            TableComparison.of(pair).assertSame("good", "good2");
            for (String good : List.of("good", "good2")) {
                assertThat(recorded(pair, "state::text || ' ' || sync_lsn", good))
                        .isEqualTo("s " + point);
            }
            assertThat(recorded(pair, "state::text || ' ' || error", "absent"))
                    .startsWith("i ")
                    .contains("\"public.absent\" does not exist");
            assertThat(recorded(pair, "state::text || ' ' || error", "refused"))
                    .startsWith("d could not copy table \"public.refused\": ")
                    .contains("violates check constraint");
            assertThat(recorded(pair, "state::text || ' ' || error", "unread"))
                    .isEqualTo("d could not copy table \"public.unread\": invalid input syntax for type integer: \"x\""
                            + " (COPY unread, line 2, column v)");
            assertThat(pair.target().number("SELECT (SELECT count(*) FROM refused) + (SELECT count(*) FROM unread)"))
                    .isZero();
            assertThat(sessions(pair)).isZero();
            assertThat(pair.target()
                            .number("SELECT count(*) FROM pg_replication_origin o, pgapply.subscription s"
                                    + " WHERE starts_with(o.roname, 'pgapply_' || s.subid || '_copy_')"))
                    .isZero();
        }
    }

    @Test
    void as_what_each_table_is_published_is_recorded_with_the_consistent_point() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE one (id int)", "CREATE TABLE two (id int)")
                    .publish("one", "two");

            run(pair);

            assertThat(pair.target().column("SELECT published_as FROM pgapply.subscription_rel ORDER BY table_name"))
                    .isEqualTo(
                            pair.publisher()
                                    .column(
                                            "SELECT prrelid || ':r' || oid FROM pg_publication_rel ORDER BY prrelid::regclass::text"));
        }
    }

    @Test
    void with_disable_on_error_a_row_that_the_target_refuses_ends_the_copy_and_gives_the_slot_back() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.publisher().execute("CREATE TABLE t (id bigint)", "INSERT INTO t SELECT generate_series(1, 3000)");
            pair.target().execute("CREATE TABLE t (id bigint CHECK (id < 2000))");
            pair.publish("t");

            try (FirstStart start = FirstStart.of(FirstStart.disablingOnError(pair))) {
                assertThatThrownBy(start::run)
                        .hasMessageStartingWith("could not copy table \"public.t\": ")
                        .hasMessageContaining("violates check constraint");
            }
            assertThat(pair.target().number("SELECT count(*) FROM t")).isZero();
            assertThat(pair.publisher()
                            .column("SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"))
                    .isEmpty();
            pair.target().execute("ALTER TABLE t DROP CONSTRAINT t_id_check");

            assertReady(pair, run(pair));
            TableComparison.of(pair).assertSame("t");
        }
    }

    @Test
    void row_level_security_is_an_error_and_never_an_empty_copy() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String role = RunOptions.uniqueName("engine");
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)").publish("t");
            pair.publisher()
                    .execute(
                            "INSERT INTO t VALUES (1)",
                            "CREATE ROLE " + role + " LOGIN REPLICATION",
                            "GRANT SELECT ON t TO " + role,
                            "ALTER TABLE t ENABLE ROW LEVEL SECURITY");
            SubscriptionOptions options = FirstStart.options(
                    FirstStart.url(pair.publisher(), role),
                    FirstStart.url(pair.target(), null),
                    pair.name(),
                    true,
                    true,
                    List.of("pb"));

            try (FirstStart start = FirstStart.of(options)) {
                SubscriptionRow unused = start.run();
            }

            assertThat(recorded(pair, "state::text || ' ' || error", "t"))
                    .startsWith("d could not copy table \"public.t\"")
                    .contains("row-level security");
            assertThat(pair.target().number("SELECT count(*) FROM t")).isZero();
            pair.publisher().dropSlot(pair.name());
            pair.publisher().execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }
}
