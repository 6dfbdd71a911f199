package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.EngineCommand;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Everything an operator can get wrong gets one clear sentence that names what to change, in {@code check} before {@code run} and in
 * the status after it; nothing is half made, and nobody sees a stack trace.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MistakesIT {

    /** A mistake, and what its sentence must name. */
    private record Mistake(EngineConfig.Builder config, String... named) {}

    private PostgresServer publisher;
    private PostgresServer target;
    private Database source;
    private Database sink;

    @BeforeAll
    void startServers() {
        publisher = PostgresServer.publisher(RunOptions.publisherVersion()).start();
        target = PostgresServer.target(RunOptions.targetVersion()).start();
        source = publisher.createDatabase("source");
        sink = target.createDatabase("sink");
        source.execute(
                "CREATE TABLE good(id int PRIMARY KEY)",
                "CREATE TABLE absent(id int PRIMARY KEY)",
                "CREATE TABLE wider(id int PRIMARY KEY, extra_column text)",
                "CREATE TABLE forbidden(id int PRIMARY KEY)",
                "CREATE PUBLICATION good FOR TABLE good",
                "CREATE PUBLICATION absent FOR TABLE absent",
                "CREATE PUBLICATION wider FOR TABLE wider",
                "CREATE PUBLICATION forbidden FOR TABLE forbidden",
                "CREATE ROLE locked_out LOGIN REPLICATION PASSWORD 'right'",
                "SELECT pg_create_logical_replication_slot('physical_user', 'test_decoding')");
        sink.execute(
                "CREATE TABLE good(id int PRIMARY KEY)",
                "CREATE TABLE wider(id int PRIMARY KEY)",
                "CREATE TABLE forbidden(id int PRIMARY KEY)",
                "CREATE ROLE weak LOGIN PASSWORD " + Database.literal(PostgresServer.PASSWORD),
                "GRANT CREATE ON DATABASE sink TO weak",
                "GRANT SELECT ON forbidden TO weak");
        publisher.requirePassword("locked_out");
    }

    @AfterAll
    void endServers() {
        publisher.close();
        target.close();
    }

    private EngineConfig.Builder to(String publication) {
        return EngineConfig.subscription(publication)
                .from(source)
                .to(sink)
                .publications(publication)
                .option("slot_name", "slot");
    }

    /** All but those of the file itself, by name. */
    private Map<String, Mistake> mistakes() {
        Database plain = target.database("sink");
        Map<String, Mistake> mistakes = new LinkedHashMap<>();
        mistakes.put(
                "wrong password",
                new Mistake(
                        to("good").from(source, source.libpqUrl("locked_out", publisher.port())),
                        "password authentication failed",
                        "locked_out"));
        mistakes.put(
                "unknown host",
                new Mistake(
                        to("good").from(source, "postgresql://postgres@no-such-host.invalid/source"),
                        "no-such-host.invalid"));
        mistakes.put("missing publication", new Mistake(to("no_such_publication"), "no_such_publication"));
        mistakes.put("wal_level", new Mistake(to("good").from(plain).to(source), "wal_level"));
        mistakes.put(
                "slot of another plugin",
                new Mistake(to("good").option("slot_name", "physical_user"), "physical_user", "test_decoding"));
        mistakes.put("target table missing", new Mistake(to("absent"), "public.absent"));
        mistakes.put("target column missing", new Mistake(to("wider"), "public.wider", "extra_column"));
        mistakes.put("privilege", new Mistake(to("forbidden").to(sink.libpqUrl("weak", target.port())), "forbidden"));
        return mistakes;
    }

    @Test
    void check_finds_each_mistake_and_changes_nothing() {
        List<String> complaints = new ArrayList<>();
        mistakes().forEach((name, mistake) -> {
            EngineCommand check = EngineCommand.check(mistake.config().build());
            if (check.exit() != 1) {
                complaints.add(name + ": exit " + check.exit() + "\n" + check.output());
            }
            complaints.addAll(complaintsAbout(name, check.output(), mistake));
        });

        assertThat(complaints).isEmpty();
        assertNothingMade();
    }

    @Test
    void run_shows_each_mistake_in_the_status_and_makes_nothing() {
        List<String> complaints = new ArrayList<>();
        mistakes().forEach((name, mistake) -> {
            EngineConfig config = mistake.config().build();
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitError("");
                engine.awaitStatus(
                        config.subscriptions().get(0).name(), Duration.ofSeconds(60), Set.of("error", "reconnecting"));
                String message = engine.status().path("last_error").toString();
                complaints.addAll(complaintsAbout(name, message, mistake));
                if (engine.log().contains("\tat ")) {
                    complaints.add(name + ": a stack trace\n" + engine.log());
                }
                if (engine.rest().get("/health/live").status() != 200) {
                    complaints.add(name + ": not alive");
                }
                if (engine.rest().get("/health/ready").status() != 503) {
                    complaints.add(name + ": ready");
                }
            }
        });

        assertThat(complaints).isEmpty();
        assertNothingMade();
    }

    private static List<String> complaintsAbout(String name, String text, Mistake mistake) {
        List<String> complaints = new ArrayList<>();
        for (String named : mistake.named()) {
            if (!text.contains(named)) {
                complaints.add(name + ": does not name \"" + named + "\": " + text);
            }
        }
        if (text.contains("\tat ") || text.contains("Exception")) {
            complaints.add(name + ": shows a stack trace: " + text);
        }
        return complaints;
    }

    private void assertNothingMade() {
        assertThat(source.column("SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"))
                .containsExactly("physical_user");
        for (String table : new String[] {"good", "wider", "forbidden"}) {
            assertThat(sink.number("SELECT count(*) FROM " + table)).isZero();
        }
    }

    @Test
    void a_slot_in_use_names_its_user_and_is_waited_for() {
        Database database = publisher.createDatabase("slot_in_use");
        database.execute("CREATE TABLE good(id int PRIMARY KEY)", "CREATE PUBLICATION good FOR TABLE good");
        Database other = target.createDatabase("slot_in_use");
        other.execute("CREATE TABLE good(id int PRIMARY KEY)");
        EngineConfig.Builder shared = EngineConfig.subscription("holder")
                .from(database)
                .to(sink)
                .publications("good")
                .option("slot_name", "used");
        try (EngineProcess holder = EngineProcess.start(shared.build())) {
            holder.awaitStreaming();
            EngineConfig second = EngineConfig.subscription("second")
                    .from(database)
                    .to(other)
                    .publications("good")
                    .option("slot_name", "used")
                    .option("create_slot", "false")
                    .option("copy_data", "false")
                    .build();

            EngineCommand check = EngineCommand.check(second);

            assertThat(check.exit()).as(check.output()).isEqualTo(1);
            assertThat(check.output()).contains("\"used\" is active for pid");
        }
    }
}
