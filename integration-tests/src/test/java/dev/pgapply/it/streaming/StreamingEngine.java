package dev.pgapply.it.streaming;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * An engine, with {@code streaming: on} unless its options say otherwise, between two databases, whose publisher streams each
 * transaction of more than 64 kB. Tables are created before {@link #start}.
 */
final class StreamingEngine implements AutoCloseable {

    private static final Duration LONG_ENOUGH = Duration.ofMinutes(4);

    private final DatabasePair pair;
    private final EngineConfig config;
    private final EngineProcess engine;
    private final List<Session> sessions = new ArrayList<>();

    private StreamingEngine(DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        this.pair = pair;
        // A setting of the database reaches its walsenders, so that the shared servers can stay as they are.
        pair.publisher().execute("ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
        EngineConfig.Builder builder = EngineConfig.subscription(pair.name())
                .from(pair.publisher())
                .to(pair.target())
                .publications(DatabasePair.PUBLICATION)
                .option("streaming", "on");
        for (int i = 0; i < options.length; i += 2) {
            builder.option(options[i], options[i + 1]);
        }
        this.config = builder.build();
        this.engine = how.apply(EngineProcess.of(config)).start();
    }

    /** Starts one for the pair, which it closes at its end, and waits until it streams. */
    static StreamingEngine start(DatabasePair pair, String... options) {
        return start(pair, UnaryOperator.identity(), options);
    }

    /** The same, with a word on how the engine is started, such as in a process that can be killed. */
    static StreamingEngine start(DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, String... options) {
        StreamingEngine started = new StreamingEngine(pair, how, options);
        started.engine.awaitStreaming();
        return started;
    }

    EngineProcess process() {
        return engine;
    }

    /** A transaction on the publisher that is the caller's to go on with and to end. */
    Session begin() {
        Session session = new Session(pair.publisher());
        sessions.add(session);
        return session;
    }

    /** What {@code /streams} shows. */
    List<JsonNode> streams() {
        List<JsonNode> streams = new ArrayList<>();
        engine.rest().subscription(pair.name(), "streams").forEach(streams::add);
        return streams;
    }

    /** Waits until the engine shows the transaction with at least so many spooled bytes. */
    void awaitSpooled(Session session, long bytes) {
        Wait.until(
                "transaction " + session.xid() + " to be spooled",
                LONG_ENOUGH,
                () -> spooledBytes(session) >= bytes,
                engine::explain);
    }

    /** Waits until at least so many blocks of the transaction have come. */
    void awaitSegments(Session session, int count) {
        Wait.until(
                count + " segments of transaction " + session.xid(),
                LONG_ENOUGH,
                () -> stream(session).path("segments").asInt() >= count,
                engine::explain);
    }

    /** Waits until the transaction is taken so. */
    void awaitAction(Session session, String action) {
        Wait.until(
                "transaction " + session.xid() + " to be in " + action,
                LONG_ENOUGH,
                () -> stream(session).path("action").asText().equals(action),
                engine::explain);
    }

    /** What {@code /streams} shows of the transaction; missing where it shows nothing. */
    JsonNode stream(Session session) {
        return streams().stream()
                .filter(stream -> stream.path("xid").asLong() == session.xid())
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    /** How many streamed transactions were taken so since the process began. */
    double streamed(String action) {
        return metric("pgapply_streams_total{action=\"" + action + "\"");
    }

    /** The value of the only series that begins so. */
    double metric(String name) {
        return engine.rest()
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    long spooledBytes(Session session) {
        return streams().stream()
                .filter(stream -> stream.path("xid").asLong() == session.xid())
                .mapToLong(stream -> stream.path("spooled_bytes").asLong())
                .sum();
    }

    /** Waits until the engine knows nothing of the transaction any more. */
    void awaitForgotten(Session session) {
        Wait.until(
                "transaction " + session.xid() + " to be forgotten",
                LONG_ENOUGH,
                () -> streams().stream().noneMatch(stream -> stream.path("xid").asLong() == session.xid()),
                engine::explain);
    }

    /** How many transactions the publisher has streamed to the slot. */
    long streamedTransactions() {
        return pair.publisher()
                .number("SELECT stream_txns FROM pg_stat_replication_slots WHERE slot_name = '" + pair.name() + "'");
    }

    Path spoolDirectory() {
        return config.stateDirectory().resolve(pair.name());
    }

    List<Path> spoolFiles() {
        if (!Files.exists(spoolDirectory())) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(spoolDirectory())) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether everything up to there has come, applied or not. */
    boolean hasReceived(Lsn end) {
        String received = engine.status().path("received_lsn").asText();
        return !received.isEmpty()
                && !received.equals("null")
                && !Lsn.parse(received).isBefore(end);
    }

    /** Waits until everything is applied, and compares the tables. */
    void awaitSame(String... tables) {
        engine.awaitApplied(pair.name(), pair.publisher().insertLsn(), LONG_ENOUGH);
        TableComparison.of(pair).assertSame(tables);
    }

    /** SIGKILL and a new start; only for an engine in its own process. */
    void killAndStart() {
        engine.killNine();
        engine.start();
    }

    @Override
    public void close() {
        sessions.forEach(Session::close);
        engine.close();
        pair.close();
    }
}
