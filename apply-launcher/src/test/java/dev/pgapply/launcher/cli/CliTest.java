package dev.pgapply.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.config.StateDirectory;
import dev.pgapply.launcher.console.Logging;
import dev.pgapply.launcher.console.Terminal;
import dev.pgapply.launcher.rest.RestServer;
import dev.pgapply.launcher.supervise.ApplyLauncher;
import dev.pgapply.launcher.supervise.SupervisorFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CliTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private EngineRunner engine = (config, state, started) -> started.accept(new HttpAddress("127.0.0.1", 4711));

    @TempDir
    private Path folder;

    private Path config;

    @BeforeEach
    void a_configuration() throws IOException {
        config = Files.writeString(folder.resolve("pgapply.yaml"), """
                state_directory: "%s"
                subscriptions:
                  - name: orders
                    publisher: { url: "postgresql://repl:hush@127.0.0.1:1/shop" }
                    target: { url: "postgresql://app:hush@127.0.0.1:1/shop" }
                    publications: [orders_pub]
                """.formatted(folder.resolve("state")));
    }

    @AfterEach
    void quiet_again() {
        Logging.configure("error", Logging.Format.TEXT, terminal());
    }

    private Terminal terminal() {
        return new Terminal(new PrintStream(err, true, StandardCharsets.UTF_8), false, 80);
    }

    private int execute(String... arguments) {
        CommandContext context = new CommandContext(
                environment, "me", new PrintStream(out, true, StandardCharsets.UTF_8), terminal(), "1.2.3");
        return Cli.execute(context, engine, arguments);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void version_is_printed() {
        assertThat(execute("version")).isZero();
        assertThat(out()).startsWith("pgapply 1.2.3 (Java ");
        assertThat(err()).isEmpty();
    }

    @Test
    void version_is_printed_as_json() {
        assertThat(execute("version", "--json")).isZero();
        assertThat(out()).startsWith("{\"version\":\"1.2.3\",\"java\":");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | a command is missing",
                "statsu | unmatched argument at index 0: 'statsu'",
                "refresh | missing required parameter: 'NAME'",
                "skip orders --lsn 0/1 | unmatched argument",
                "resync orders | missing required parameter: 'TABLE'",
                "run | missing required option: '--config=FILE'",
                "run -c x --managed | unknown option: '--managed'",
                "drop -c x | missing required parameter: 'NAME'",
                "enable | missing required parameter: 'NAME'",
                "sequences -c x | missing required parameter: 'NAME'",
                "sequences -c x orders --margin many | invalid value for option '--margin'",
                "version --log-level loud | invalid value for option '--log-level'",
                "version --log-format xml | invalid value for option '--log-format'"
            })
    void wrong_usage_is_2_with_a_sentence_and_a_hint(String line, String message) {
        int exit = execute(line.isEmpty() ? new String[0] : line.split(" "));

        assertThat(exit).isEqualTo(2);
        assertThat(err())
                .startsWith("pgapply: ")
                .containsIgnoringCase(message)
                .contains("hint: ")
                .doesNotContain("\tat ");
        assertThat(out()).isEmpty();
    }

    @Test
    void help_is_printed() {
        assertThat(execute("help")).isZero();
        assertThat(out()).contains("Usage: pgapply COMMAND").contains("disable");
    }

    @Test
    void run_runs_the_engine_and_says_where_it_is_as_json() {
        assertThat(execute("run", "-c", config.toString(), "--json")).isZero();
        assertThat(out()).isEqualTo("{\"url\":\"http://127.0.0.1:4711\",\"subscriptions\":[\"orders\"]}\n");
        assertThat(folder.resolve("state/pgapply.lock")).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "check"})
    void a_wrong_configuration_is_2(String command) throws IOException {
        Files.writeString(config, "subscription: []\n");

        assertThat(execute(command, "-c", config.toString())).isEqualTo(2);

        assertThat(err())
                .isEqualTo("pgapply: unknown key \"subscription\" (line 1)\nhint: did you mean \"subscriptions\"?\n");
    }

    @Test
    void a_missing_file_is_2() {
        assertThat(execute("run", "-c", folder.resolve("none").toString())).isEqualTo(2);
        assertThat(err()).contains("does not exist");
    }

    @Test
    void a_state_directory_in_use_and_an_engine_that_cannot_start_are_1() {
        try (StateDirectory held = StateDirectory.open(folder.resolve("state"))) {
            assertThat(execute("run", "-c", config.toString())).isEqualTo(1);
            assertThat(err()).contains(held.path() + "\" is in use by another engine");
        }
        engine = (config, state, started) -> {
            throw new ApplyException(Kind.PRECONDITION, "HTTP address cannot be bound");
        };

        assertThat(execute("run", "-c", config.toString())).isEqualTo(1);
        assertThat(err()).endsWith("pgapply: HTTP address cannot be bound\n");
    }

    @Test
    void a_defect_is_1_and_shows_its_trace_at_level_debug_only() {
        engine = (config, state, started) -> {
            throw new IllegalStateException("oops");
        };

        assertThat(execute("run", "-c", config.toString())).isEqualTo(1);
        assertThat(err())
                .contains("unexpected failure: java.lang.IllegalStateException: oops")
                .doesNotContain("\tat ");
        assertThat(execute("run", "-c", config.toString(), "--log-level", "debug"))
                .isEqualTo(1);
        assertThat(err()).contains("\tat dev.pgapply");
    }

    @Test
    void an_error_is_json_on_stderr_where_json_is_wanted() {
        assertThat(execute("drop", "-c", config.toString(), "nobody", "--json")).isEqualTo(2);
        assertThat(err())
                .isEqualTo("{\"error\":\"there is no subscription \\\"nobody\\\" in \\\"" + config
                        + "\\\"\",\"hint\":\"there are [\\\"orders\\\"]\"}\n");
        assertThat(execute("status", "--nope", "--json")).isEqualTo(2);
        assertThat(out()).isEmpty();
    }

    @Test
    void a_target_that_cannot_be_reached_fails_the_drop_without_a_password() {
        assertThat(execute("drop", "-c", config.toString(), "orders")).isEqualTo(1);
        assertThat(err()).contains("postgresql://app@127.0.0.1:1/shop").doesNotContain("hush");
    }

    @Test
    void a_check_that_finds_an_error_is_1_with_one_line_a_finding() {
        assertThat(execute("check", "-c", config.toString())).isEqualTo(1);
        assertThat(out().lines()).hasSize(2).allMatch(line -> line.startsWith("orders: error: could not connect to "));
        out.reset();

        assertThat(execute("check", "-c", config.toString(), "--json")).isEqualTo(1);

        assertThat(out()).startsWith("[{\"subscription\":\"orders\",\"severity\":\"error\",\"code\":\"");
        assertThat(out() + err()).doesNotContain("hush");
    }

    @Test
    void no_engine_is_1_with_the_url() {
        environment.put("PGAPPLY_URL", "http://127.0.0.1:1/");

        assertThat(execute("status")).isEqualTo(1);

        assertThat(err().lines())
                .containsExactly(
                        "pgapply: no engine answers at http://127.0.0.1:1",
                        "hint: check that it runs, and name its address with --url");
        assertThat(execute("status", "--url", "not a url")).isEqualTo(2);
    }

    @Test
    void status_enable_disable_refresh_and_resync_speak_to_an_engine() {
        SupervisorFixture orders = SupervisorFixture.living("my orders", true);
        ApplyLauncher launcher = new ApplyLauncher(List.of(orders.supervisor));
        launcher.start();
        try (RestServer server = new RestServer(launcher, () -> "", "tok")) {
            String url = "http://" + server.bind(new HttpAddress("127.0.0.1", 0));
            server.serve();
            environment.put("PGAPPLY_URL", url);
            assertThat(execute("status")).isEqualTo(1);
            assertThat(err()).contains("the token is missing or wrong").contains("--token or PGAPPLY_TOKEN");
            environment.put("PGAPPLY_TOKEN", "tok");

            assertThat(execute("status")).isZero();
            assertThat(execute("disable", "my orders")).isZero();
            assertThat(execute("enable", "my orders", "--json", "--url", url, "--token", "tok"))
                    .isZero();
            assertThat(execute("enable", "nobody")).isEqualTo(1);
            await().until(orders::isLiving);
            assertThat(execute("refresh", "my orders")).isZero();
            assertThat(execute("resync", "my orders", "public.T")).isZero();
            assertThat(execute("resync", "my orders", "t")).isEqualTo(1);
            assertThat(execute("resync", "my orders")).isEqualTo(2);
            assertThat(orders.commands).containsExactly("refresh", "resync public.t");

            assertThat(out())
                    .contains("my orders: starting\n")
                    .contains("my orders: disabled\n")
                    .contains("from postgresql://repl@db1:5432/shop")
                    .contains("{\"name\":\"my orders\",\"enabled\":true")
                    .doesNotContain("hush");
            assertThat(err()).contains("there is no subscription \"nobody\"");
        } finally {
            launcher.stop(Duration.ofSeconds(10));
        }
    }
}
