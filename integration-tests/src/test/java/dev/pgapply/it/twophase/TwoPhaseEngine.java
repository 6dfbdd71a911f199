package dev.pgapply.it.twophase;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.TcpProxy;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * An engine between two databases whose publisher prepares transactions. Their names are the publisher's whole server's, so that each
 * pair has its own; all of them have a quote. Tables are created before {@link #start}.
 */
final class TwoPhaseEngine implements AutoCloseable {

    private final DatabasePair pair;
    private final TcpProxy proxy;
    private final EngineConfig config;
    private final EngineProcess engine;

    private TwoPhaseEngine(
            DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, boolean twoPhase, String... options) {
        this.pair = pair;
        this.proxy = TcpProxy.to(pair.target().server().port());
        EngineConfig.Builder builder = EngineConfig.subscription(pair.name())
                .from(pair.publisher())
                .to(pair.target().libpqUrl(PostgresServer.SUPERUSER, proxy.port()))
                .publications(DatabasePair.PUBLICATION)
                .option("two_phase", String.valueOf(twoPhase));
        for (int i = 0; i < options.length; i += 2) {
            builder.option(options[i], options[i + 1]);
        }
        this.config = builder.build();
        this.engine = how.apply(EngineProcess.of(config)).start();
    }

    /** Starts one for the pair, which it closes at its end, and waits until it streams. */
    static TwoPhaseEngine start(DatabasePair pair, boolean twoPhase, String... options) {
        return start(pair, UnaryOperator.identity(), twoPhase, options);
    }

    /** The same, in a process of its own, which can be killed. */
    static TwoPhaseEngine startProcess(DatabasePair pair, boolean twoPhase, String... options) {
        return start(pair, EngineProcess.Builder::ownProcess, twoPhase, options);
    }

    private static TwoPhaseEngine start(
            DatabasePair pair, UnaryOperator<EngineProcess.Builder> how, boolean twoPhase, String... options) {
        TwoPhaseEngine started = new TwoPhaseEngine(pair, how, twoPhase, options);
        started.engine.awaitStreaming();
        return started;
    }

    /** Starts one with two_phase that is not expected to stream. */
    static TwoPhaseEngine startRefused(DatabasePair pair) {
        return new TwoPhaseEngine(pair, UnaryOperator.identity(), true);
    }

    EngineProcess process() {
        return engine;
    }

    EngineConfig config() {
        return config;
    }

    /** Stands between the engine and the target. */
    TcpProxy proxy() {
        return proxy;
    }

    private String gid(String name) {
        return Database.literal(name + "'" + pair.name());
    }

    /** A transaction on the publisher that ends with PREPARE. */
    void prepare(String name, String... statements) {
        List<String> all = new ArrayList<>(List.of("BEGIN"));
        all.addAll(List.of(statements));
        all.add("PREPARE TRANSACTION " + gid(name));
        pair.publisher().execute(all.toArray(String[]::new));
    }

    void commitPrepared(String name) {
        pair.publisher().execute("COMMIT PREPARED " + gid(name));
    }

    void rollbackPrepared(String name) {
        pair.publisher().execute("ROLLBACK PREPARED " + gid(name));
    }

    /** How many transactions are prepared on the target. */
    long preparedOnTarget() {
        return prepared(pair.target()).size();
    }

    private static List<String> prepared(Database database) {
        return database.column("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()");
    }

    /** How many streamed transactions got a parallel apply worker since the process began. */
    double sentToWorkers() {
        return engine.rest()
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("pgapply_streams_total{action=\"LEADER_SEND_TO_PARALLEL\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    void awaitPrepared(long count) {
        Wait.until(
                count + " transactions to be prepared on the target",
                Wait.SOON,
                () -> preparedOnTarget() == count,
                engine::explain);
    }

    /** Waits until everything is applied, and compares the tables; nothing is left prepared, and nothing recorded. */
    void awaitSame(String... tables) {
        engine.awaitCaughtUp();
        TableComparison.of(pair).assertSame(tables);
        if (preparedOnTarget() != 0) {
            throw new AssertionError("still prepared on the target: " + prepared(pair.target()));
        }
        long rows = pair.target().number("SELECT count(*) FROM pgapply.prepared_transaction");
        if (rows != 0) {
            throw new AssertionError(rows + " rows are left in pgapply.prepared_transaction");
        }
    }

    /** SIGKILL and a new start; only for an engine in its own process. */
    void killAndStart() {
        engine.killNine();
        engine.start();
        engine.awaitStreaming();
    }

    /** An orderly end, another value of the option, and a new start. */
    void restartWith(boolean twoPhase) {
        engine.stop();
        try {
            String text = Files.readString(config.file());
            Files.writeString(config.file(), text.replaceFirst("two_phase: (true|false)", "two_phase: " + twoPhase));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        engine.start();
    }

    @Override
    public void close() {
        engine.close();
        proxy.close();
        for (Database database : List.of(pair.publisher(), pair.target())) {
            for (String left : prepared(database)) {
                database.execute("ROLLBACK PREPARED " + Database.literal(left));
            }
        }
        pair.close();
    }
}
