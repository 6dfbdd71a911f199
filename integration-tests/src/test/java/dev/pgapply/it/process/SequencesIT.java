package dev.pgapply.it.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RunOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code pgapply sequences} (CASES.md N05): the target's sequences at the cut-over. */
class SequencesIT {

    private static EngineCommand sequences(EngineConfig config, DatabasePair pair, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("sequences", "-c", config.file().toString(), pair.name()));
        arguments.addAll(List.of(more));
        return EngineCommand.run(arguments.toArray(String[]::new));
    }

    @Test
    void after_the_cut_over_no_sequence_gives_what_the_publisher_gave_and_each_goes_its_own_way() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth(
                            "CREATE TABLE n05 (id serial PRIMARY KEY, gid int GENERATED ALWAYS AS IDENTITY)",
                            "CREATE SEQUENCE n05s START 1000 INCREMENT -5 MINVALUE -9223372036854775808 MAXVALUE 1000",
                            "CREATE SEQUENCE n05u",
                            "CREATE SEQUENCE \"N05.q\" CACHE 50",
                            "CREATE TABLE n05x (id bigint PRIMARY KEY DEFAULT nextval('\"N05.q\"'))")
                    .publish("n05", "n05x");
            pair.publisher().execute("INSERT INTO n05 SELECT FROM generate_series(1, 100)");
            try (EngineProcess engine = EngineProcess.start(pair.config())) {
                engine.awaitStreaming();
                pair.publisher()
                        .execute(
                                "INSERT INTO n05 SELECT FROM generate_series(1, 100)",
                                "SELECT nextval('n05s') FROM generate_series(1, 3)",
                                "SELECT setval('\"N05.q\"', 500, false)");
                engine.awaitCaughtUp();

                EngineCommand done = sequences(engine.config(), pair);

                assertThat(done.out().lines())
                        .containsExactly(
                                "public.N05.q: set, next value 500 (was 1)",
                                "public.n05_gid_seq: set, next value 201 (was 1)",
                                "public.n05_id_seq: set, next value 201 (was 1)",
                                "public.n05s: set, next value 985 (was 1000)",
                                "public.n05u: unchanged, next value 1");
                assertThat(done.exit()).isZero();
                EngineCommand again = sequences(engine.config(), pair);
                assertThat(again.out().lines()).hasSize(5).allMatch(line -> line.contains(": unchanged, next value "));
                assertThat(again.exit()).isZero();
                pair.target().execute("INSERT INTO n05 DEFAULT VALUES", "INSERT INTO n05x DEFAULT VALUES");
                assertThat(pair.target().query("SELECT max(id), max(gid) FROM n05"))
                        .containsExactly(List.of("201", "201"));
                assertThat(pair.target().number("SELECT id FROM n05x")).isEqualTo(500);
                assertThat(pair.target().query("SELECT nextval('n05s'), nextval('n05u')"))
                        .containsExactly(List.of("985", "1"));
            }
        }
    }

    @Test
    void a_margin_skips_steps_nothing_moves_back_and_what_cannot_be_done_is_named() throws JsonProcessingException {
        try (DatabasePair pair = DatabasePair.shared()) {
            String role = RunOptions.uniqueName("reader");
            pair.publisher()
                    .execute(
                            "CREATE SEQUENCE up INCREMENT 10",
                            "CREATE SEQUENCE down INCREMENT -1",
                            "CREATE SEQUENCE near_end AS smallint",
                            "CREATE SEQUENCE behind",
                            "CREATE SEQUENCE absent",
                            "CREATE SEQUENCE turned",
                            "CREATE SEQUENCE big",
                            "CREATE SEQUENCE secret",
                            "CREATE TABLE t (id serial)",
                            "SELECT nextval('up'), nextval('down'), nextval('t_id_seq'), setval('near_end', 32760),"
                                    + " setval('big', 5000000000)",
                            "CREATE ROLE " + role + " LOGIN",
                            "GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO " + role,
                            "REVOKE ALL ON secret FROM " + role);
            pair.target()
                    .execute(
                            "CREATE SEQUENCE up INCREMENT 10",
                            "CREATE SEQUENCE down INCREMENT -1",
                            "CREATE SEQUENCE near_end AS smallint",
                            "CREATE SEQUENCE behind",
                            "CREATE SEQUENCE turned INCREMENT -1",
                            "CREATE SEQUENCE big AS int",
                            "CREATE SEQUENCE secret",
                            "CREATE TABLE t (id int GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME other_name))",
                            "SELECT setval('behind', 777)");
            EngineConfig config = EngineConfig.subscription(pair.name())
                    .from(
                            pair.publisher(),
                            pair.publisher()
                                    .libpqUrl(role, pair.publisher().server().port()))
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .build();

            EngineCommand done = sequences(config, pair, "--margin", "100", "--json");

            assertThat(done.exit()).isEqualTo(1);
            assertThat(lines(done.out()))
                    .containsExactly(
                            "absent absent null",
                            "behind ahead 778",
                            "big failed 1",
                            "down set -102",
                            "near_end set 32767",
                            "secret failed null",
                            "t_id_seq set 102",
                            "turned failed -1",
                            "up set 1011");
            assertThat(done.out())
                    .contains("the publisher's value 5000000000 is not between the target's 1 and 2147483647")
                    .contains("its increment is 1 on the publisher and -1 on the target")
                    .contains("the publisher does not let it be read: permission denied for sequence secret")
                    .contains("\"target\":\"public.other_name\"");
            pair.target().execute("INSERT INTO t DEFAULT VALUES");
            assertThat(pair.target().number("SELECT id FROM t")).isEqualTo(102);
            pair.publisher().execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }

    private static List<String> lines(String json) throws JsonProcessingException {
        List<String> lines = new ArrayList<>();
        for (JsonNode one : new ObjectMapper().readTree(json)) {
            lines.add(one.path("sequence").asText() + " " + one.path("result").asText() + " "
                    + one.path("next_value").asText());
        }
        return lines;
    }

    @Test
    void wrong_usage_is_2_and_a_server_that_is_not_there_is_1() {
        try (DatabasePair pair = DatabasePair.shared()) {
            EngineConfig config = pair.config();

            EngineCommand negative = sequences(config, pair, "--margin=-1");

            assertThat(negative.exit()).isEqualTo(2);
            assertThat(negative.err()).contains("--margin must not be negative, was -1");
            assertThat(EngineCommand.run("sequences", "-c", config.file().toString(), "nobody")
                            .exit())
                    .isEqualTo(2);
            EngineCommand nowhere = sequences(
                    EngineConfig.subscription(pair.name())
                            .from(pair.publisher(), "postgresql://u@127.0.0.1:1/x")
                            .to(pair.target())
                            .publications(DatabasePair.PUBLICATION)
                            .build(),
                    pair);
            assertThat(nowhere.exit()).isEqualTo(1);
            assertThat(nowhere.err()).contains("connection refused");
        }
    }
}
