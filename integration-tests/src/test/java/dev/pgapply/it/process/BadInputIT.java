package dev.pgapply.it.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** What is wrong is said in one clear sentence, with the right exit code, and nothing is half-created. */
class BadInputIT {

    private static final String TRACE = "\tat ";

    private static DatabasePair pair() {
        return DatabasePair.shared()
                .onBoth("CREATE TABLE t (id int PRIMARY KEY, v text)")
                .publish("t");
    }

    private static EngineConfig changed(DatabasePair pair, UnaryOperator<String> change) {
        EngineConfig config = pair.config();
        String text = change.apply(config.text());
        assertThat(text).isNotEqualTo(config.text());
        try {
            Files.writeString(config.file(), text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return config;
    }

    private static EngineCommand run(EngineConfig config) {
        return EngineCommand.run("run", "-c", config.file().toString());
    }

    private static void assertUntouched(DatabasePair pair) {
        assertThat(pair.target().isTrue("SELECT to_regnamespace('pgapply') IS NULL"))
                .isTrue();
        assertThat(pair.publisher()
                        .number("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"))
                .isZero();
    }

    private static void assertSaid(EngineCommand command, int exit, String... parts) {
        assertThat(command.output()).contains(parts).doesNotContain(TRACE, "Exception");
        assertThat(command.exit()).isEqualTo(exit);
    }

    @Test
    void a_poison_configuration_ends_run_and_check_with_2() {
        try (DatabasePair pair = pair()) {
            EngineConfig unknown = changed(pair, text -> text.replace("publications:", "publication:"));
            EngineConfig broken = changed(pair, text -> text.replace("publications: [", "publications: [[{"));
            EngineConfig streaming = changed(pair, text -> text + "    streamign: parallel\n");

            assertSaid(
                    run(unknown), 2, "unknown key \"subscriptions[0].publication\"", "did you mean \"publications\"?");
            assertSaid(run(broken), 2, "no valid YAML at line ");
            assertSaid(EngineCommand.check(streaming), 2, "unknown key \"subscriptions[0].streamign\"");
            assertUntouched(pair);
        }
    }

    @Test
    void a_taken_port_or_state_directory_ends_run_with_1() throws IOException {
        try (DatabasePair pair = pair();
                EngineProcess engine =
                        EngineProcess.of(pair.config()).ownProcess().start()) {
            engine.awaitStreaming();
            EngineConfig samePort = engine.config().forAnotherEngine();
            Files.writeString(
                    samePort.file(),
                    samePort.text()
                            .replace(
                                    "127.0.0.1:" + samePort.port(),
                                    "127.0.0.1:" + engine.config().port()));

            assertSaid(run(samePort), 1, "cannot be bound", "set another http.address");
            assertSaid(run(engine.config()), 1, "is in use by another engine (process " + engine.pid() + ")");
        }
    }

    @Test
    void what_a_server_answers_is_found_by_check_and_becomes_the_status_of_run() {
        try (DatabasePair pair = pair()) {
            EngineConfig config = changed(pair, text -> text.replace("[\"pb\"]", "[\"nope\"]"));

            assertSaid(EngineCommand.check(config), 1, "publication \"nope\" does not exist on the publisher");
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitError("publication \"nope\" does not exist");
                assertThat(engine.isRunning()).isTrue();
                assertThat(engine.rest().get("/health/ready").status()).isEqualTo(503);
                assertThat(engine.rest().get("/health/live").status()).isEqualTo(200);
                assertUntouched(pair);
                pair.publisher().execute("CREATE PUBLICATION nope FOR TABLE t");
                engine.awaitStreaming();
                assertThat(engine.status().path("last_error").isNull()).isTrue();
            }
        }
    }

    @Test
    void one_bad_subscription_does_not_stop_the_others() {
        try (DatabasePair good = pair();
                DatabasePair bad = pair()) {
            bad.target().execute("DROP TABLE t");
            EngineConfig config = EngineConfig.subscription(good.name())
                    .from(good.publisher())
                    .to(good.target())
                    .publications(DatabasePair.PUBLICATION)
                    .and(bad.name())
                    .from(bad.publisher())
                    .to(bad.target())
                    .publications(DatabasePair.PUBLICATION)
                    .build();
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitStatus(good.name(), Wait.SOON, Set.of("streaming"));

                engine.awaitStatus(bad.name(), Wait.SOON, Set.of("error"));

                assertThat(engine.status(bad.name())
                                .path("last_error")
                                .path("message")
                                .asText())
                        .contains("\"public.t\" does not exist");
                assertThat(engine.rest().get("/health/ready").body())
                        .contains("\"not_ready\":[\"" + bad.name() + "\"]");
                good.publisher().execute("INSERT INTO t VALUES (1, 'a')");
                engine.awaitApplied(good.name(), good.publisher().insertLsn(), Duration.ofMinutes(1));
                assertThat(good.target().number("SELECT count(*) FROM t")).isEqualTo(1);
                assertUntouched(bad);
            }
        }
    }

    @Test
    void an_unknown_host_is_named_and_no_connection_is_tried_in_a_hot_loop() {
        try (DatabasePair pair = pair()) {
            EngineConfig config = changed(
                    pair,
                    text -> text.replaceFirst(
                            "@127\\.0\\.0\\.1:" + pair.target().server().port() + "/", "@no-such-host.invalid/"));

            assertSaid(EngineCommand.check(config), 1, "unknown host \"no-such-host.invalid\"");
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitError("unknown host \"no-such-host.invalid\"");
                Wait.until(
                        "a second try to be counted",
                        () -> engine.status().path("last_error").path("count").asLong() >= 2);
                assertThat(engine.status().path("status").asText()).isIn("reconnecting", "starting");
            }
            assertUntouched(pair);
        }
    }
}
