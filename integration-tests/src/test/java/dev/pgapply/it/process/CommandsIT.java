package dev.pgapply.it.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Commands against a running engine, and what is left when it is gone. */
class CommandsIT {

    private static DatabasePair pair() {
        return DatabasePair.shared()
                .onBoth("CREATE TABLE t (id int PRIMARY KEY, v text)")
                .publish("t");
    }

    private static EngineCommand drop(EngineConfig config, String name) {
        return EngineCommand.run("drop", "-c", config.file().toString(), name);
    }

    private static boolean slotIsActive(DatabasePair pair) {
        return pair.publisher()
                .isTrue("SELECT active FROM pg_replication_slots WHERE slot_name = '" + pair.name() + "'");
    }

    private static long subid(DatabasePair pair) {
        return pair.target().number("SELECT subid FROM pgapply.subscription");
    }

    private static void assertNothingIsLeft(DatabasePair pair, long subid) {
        assertThat(pair.publisher()
                        .number("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"))
                .isZero();
        assertThat(pair.target().number("SELECT count(*) FROM pgapply.subscription"))
                .isZero();
        assertThat(pair.target()
                        .number("SELECT count(*) FROM pg_replication_origin WHERE roname = 'pgapply_" + subid + "'"))
                .isZero();
    }

    @Test
    void a_disabled_subscription_gives_its_slot_back_and_stays_disabled_over_a_restart_until_it_is_enabled() {
        try (DatabasePair pair = pair();
                EngineProcess engine = EngineProcess.start(pair.config())) {
            engine.awaitStreaming();
            String url = "http://127.0.0.1:" + engine.config().port();

            EngineCommand disabled = EngineCommand.run("disable", pair.name(), "--url", url);

            assertThat(disabled.output()).contains(pair.name() + ": disabled");
            assertThat(disabled.exit()).isZero();
            assertThat(slotIsActive(pair)).isFalse();
            engine.stop();
            pair.publisher().execute("INSERT INTO t VALUES (1, 'a')");
            engine.start();
            engine.awaitStatus("disabled");
            assertThat(engine.rest().get("/health/ready").status()).isEqualTo(200);
            assertThat(EngineCommand.run("enable", pair.name(), "--url", url).exit())
                    .isZero();
            engine.awaitCaughtUp();
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
        }
    }

    @Test
    void a_drop_is_refused_while_an_engine_has_the_subscription_and_then_leaves_nothing() {
        try (DatabasePair pair = pair();
                EngineProcess engine = EngineProcess.start(pair.config())) {
            engine.awaitStreaming();

            EngineCommand refused = drop(engine.config(), pair.name());

            assertThat(refused.exit()).isEqualTo(1);
            assertThat(refused.err()).contains("is in use by an engine: pid ");
            assertThat(slotIsActive(pair)).isTrue();
            engine.stop();
            long subid = subid(pair);
            EngineCommand done = drop(engine.config(), pair.name());
            assertThat(done.output()).contains("replication slot \"" + pair.name() + "\"");
            assertThat(done.exit()).isZero();
            assertNothingIsLeft(pair, subid);
            assertThat(drop(engine.config(), pair.name()).exit()).isEqualTo(1);
            assertThat(drop(engine.config(), "nobody").exit()).isEqualTo(2);
        }
    }

    @Test
    void a_drop_without_its_publisher_is_refused_unless_the_slot_is_kept() throws IOException {
        try (DatabasePair pair = pair();
                EngineProcess engine = EngineProcess.start(pair.config())) {
            engine.awaitStreaming();
            engine.stop();
            long subid = subid(pair);
            Path file = engine.config().file();
            String nobodyListens = ":1/";
            Files.writeString(
                    file,
                    engine.config()
                            .text()
                            .replaceFirst(":" + pair.publisher().server().port() + "/", nobodyListens));

            EngineCommand refused = EngineCommand.run("drop", "-c", file.toString(), pair.name());

            assertThat(refused.exit()).isEqualTo(1);
            assertThat(refused.err()).contains("nothing was dropped").contains("--keep-slot");
            assertThat(subid(pair)).isEqualTo(subid);
            EngineCommand kept = EngineCommand.run("drop", "-c", file.toString(), "--keep-slot", pair.name());
            assertThat(kept.output()).contains("no slot: \"" + pair.name() + "\" is kept");
            assertThat(kept.exit()).isZero();
            assertThat(pair.target().number("SELECT count(*) FROM pgapply.subscription WHERE subid = " + subid))
                    .isZero();
            assertThat(pair.publisher()
                            .number("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + pair.name()
                                    + "'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void a_drop_cleans_up_what_a_killed_first_start_has_left() throws SQLException {
        try (DatabasePair pair = pair()) {
            EngineConfig config = pair.config();
            try (Connection blocking = pair.publisher().connect();
                    Statement statement = blocking.createStatement();
                    EngineProcess engine = EngineProcess.of(config).ownProcess().start()) {
                blocking.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (1, 'not committed yet')");
                engine.awaitStatus("waiting_for_slot");
                engine.killNine();
                blocking.rollback();
            }
            assertThat(pair.target().value("SELECT slot_state FROM pgapply.subscription"))
                    .isEqualTo("creating");

            long subid = subid(pair);
            EngineCommand done = drop(config, pair.name());

            assertThat(done.output()).contains("state of subscription");
            assertThat(done.exit()).isZero();
            assertNothingIsLeft(pair, subid);
        }
    }

    @Test
    void a_second_engine_stands_by_refuses_commands_and_takes_over() {
        try (DatabasePair pair = pair();
                EngineProcess first =
                        EngineProcess.of(pair.config()).ownProcess().start()) {
            first.awaitStreaming();
            try (EngineProcess second = EngineProcess.start(first.config().forAnotherEngine())) {
                second.awaitStatus(pair.name(), Wait.SOON, Set.of("standby"));
                RestClient.Answer refused = second.rest().command(pair.name(), "disable");
                assertThat(refused.status()).isEqualTo(409);
                assertThat(refused.body()).contains("pid ");
                assertThat(second.rest().get("/health/ready").body()).contains("\"standby\":[\"" + pair.name() + "\"]");

                first.killNine();

                second.awaitStreaming();
                pair.publisher().execute("INSERT INTO t VALUES (1, 'a')");
                second.awaitCaughtUp();
                assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
            }
        }
    }

    @Test
    void disable_on_error_disables_with_postgresqls_sentence_and_enable_tries_again() {
        try (DatabasePair pair = pair()) {
            EngineConfig config = EngineConfig.subscription(pair.name())
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications(DatabasePair.PUBLICATION)
                    .option("disable_on_error", "true")
                    .build();
            pair.target().execute("ALTER TABLE t ADD CHECK (v <> 'bad')");
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitStreaming();
                pair.publisher().execute("INSERT INTO t VALUES (1, 'good')", "INSERT INTO t VALUES (2, 'bad')");

                engine.awaitStatus("disabled");

                assertThat(engine.log())
                        .contains("subscription \"" + pair.name() + "\" has been disabled because of an error");
                assertThat(engine.status().path("last_error").path("context").asText())
                        .contains("public.t")
                        .contains("finished at ");
                assertThat(pair.target().column("SELECT id FROM t")).containsExactly("1");
                Wait.until(
                        "the record of it in the target",
                        () -> pair.target().isTrue("SELECT NOT enabled FROM pgapply.subscription"));
                pair.target().execute("ALTER TABLE t DROP CONSTRAINT t_v_check");
                assertThat(engine.rest().command(pair.name(), "enable").status())
                        .isEqualTo(200);
                engine.awaitCaughtUp();
                assertThat(pair.target().column("SELECT id FROM t ORDER BY id")).containsExactly("1", "2");
            }
        }
    }

    @Test
    void sigterm_under_load_ends_with_zero_within_eight_seconds() {
        try (DatabasePair pair = pair();
                EngineProcess engine = EngineProcess.start(pair.config())) {
            engine.awaitStreaming();
            pair.publisher().execute("INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(1, 200000) g");
            long start = System.nanoTime();

            int exit = engine.terminate();

            assertThat(exit).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
            engine.start();
            engine.awaitCaughtUp();
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(200_000);
        }
    }
}
