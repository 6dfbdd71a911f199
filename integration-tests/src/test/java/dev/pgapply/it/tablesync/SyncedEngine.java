package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * An engine between two databases, whose tables come, go and are redone while it streams. At its end it checks that nothing of any copy is
 * left: no temporary slot and no session on the publisher, no spool file.
 */
final class SyncedEngine implements AutoCloseable {

    static final Duration LONG_ENOUGH = Duration.ofMinutes(3);

    private final DatabasePair pair;
    private final EngineConfig config;
    private final EngineProcess engine;

    private SyncedEngine(DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        this.pair = pair;
        EngineConfig.Builder builder = EngineConfig.subscription(pair.name())
                .from(pair.publisher())
                .to(pair.target())
                .publications(DatabasePair.PUBLICATION);
        for (int i = 0; i < options.length; i += 2) {
            builder.option(options[i], options[i + 1]);
        }
        this.config = builder.build();
        this.engine = how.apply(EngineProcess.of(config)).start();
    }

    /** Starts one for the pair, which it closes at its end; does not wait. */
    static SyncedEngine launch(DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        return new SyncedEngine(pair, how, options);
    }

    /** Starts one for the pair, which it closes at its end, and waits until it streams. */
    static SyncedEngine start(DatabasePair pair, String... options) {
        return start(pair, UnaryOperator.identity(), options);
    }

    /** The same, with a word on how the engine is started, such as in a process that can be killed. */
    static SyncedEngine start(DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        SyncedEngine started = launch(pair, how, options);
        started.engine.awaitStreaming();
        return started;
    }

    EngineProcess process() {
        return engine;
    }

    DatabasePair pair() {
        return pair;
    }

    RestClient.Answer refresh() {
        return engine.rest().command(pair.name(), "refresh");
    }

    RestClient.Answer resync(String table) {
        return engine.rest().command(pair.name(), "resync", "{\"table\": \"" + table.replace("\"", "\\\"") + "\"}");
    }

    void requireRefresh() {
        RestClient.Answer answer = refresh();
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    }

    void requireResync(String table) {
        RestClient.Answer answer = resync(table);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    }

    /** What {@code /tables} shows of a table, an empty object if it is not there. */
    JsonNode table(String name) {
        for (JsonNode table : engine.rest().subscription(pair.name(), "tables")) {
            String shown =
                    table.path("schema").asText() + "." + table.path("table").asText();
            if (shown.equals(name.contains(".") ? name : "public." + name)) {
                return table;
            }
        }
        return MissingNode.getInstance();
    }

    String state(String table) {
        return table(table).path("state").asText();
    }

    String error(String table) {
        return table(table).path("error").asText("");
    }

    /** Waits until the tables are in one of these states, given as letters. */
    void awaitState(String states, String... tables) {
        for (String table : tables) {
            Wait.until(
                    "table " + table + " to be " + states,
                    LONG_ENOUGH,
                    () -> {
                        String state = state(table);
                        return !state.isEmpty() && states.contains(state);
                    },
                    () -> table(table) + "\n" + engine.explain());
        }
    }

    void awaitError(String table, String text) {
        Wait.until(
                "an error of table " + table + " that says \"" + text + "\"",
                LONG_ENOUGH,
                () -> error(table).contains(text),
                () -> table(table) + "\n" + engine.explain());
    }

    /** Waits until all is applied, and compares the tables. */
    void awaitSame(String... tables) {
        engine.awaitApplied(pair.name(), pair.publisher().insertLsn(), LONG_ENOUGH);
        TableComparison.of(pair).assertSame(tables);
    }

    /** SIGKILL and a new start; only for an engine in its own process. */
    void killAndStart() {
        engine.killNine();
        engine.start();
    }

    List<Path> spoolFiles() {
        Path folder = config.stateDirectory().resolve(pair.name());
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until changes of a table are held back. */
    void awaitHeld() {
        Wait.until(
                "a table to be held",
                LONG_ENOUGH,
                () -> spoolFiles().stream().anyMatch(file -> file.toString().endsWith(".held")),
                engine::explain);
    }

    private long copySessions() {
        return pair.publisher()
                .number("SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND application_name IN ('pgapply " + pair.name() + " copy', 'pgapply " + pair.name()
                        + " tablesync')) + (SELECT count(*) FROM pg_replication_slots WHERE temporary AND"
                        + " database = current_database())");
    }

    @Override
    public void close() {
        try {
            engine.close();
            Wait.until("no session or slot of a copy to be left", () -> copySessions() == 0);
            assertThat(spoolFiles()).isEmpty();
        } finally {
            pair.close();
        }
    }
}
