package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.NativeSubscription;
import dev.pgapply.it.support.Subscriber;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One case of a test: two databases, and a subscriber that follows. The subscriber is the engine, or with
 * {@code -Dpgapply.it.subscriber=native} PostgreSQL's own subscription, to see what it makes of the same case. At the end the global
 * rules are checked that need no help of the case: nothing is left on either server (G5), and the log shows no password (G6).
 */
final class Scenario implements AutoCloseable {

    private static final boolean NATIVE = "native".equals(System.getProperty("pgapply.it.subscriber"));

    private final DatabasePair pair;
    private final Map<String, String> options = new LinkedHashMap<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private boolean ownProcess;
    private @Nullable String heap;
    private String publisherUrl;
    private String targetUrl;
    private @Nullable Subscriber subscriber;

    private Scenario(DatabasePair pair) {
        this.pair = pair;
        this.publisherUrl = pair.publisher().libpqUrl();
        this.targetUrl = pair.target().libpqUrl();
    }

    static Scenario shared() {
        return of(DatabasePair.shared());
    }

    /** The scenario closes the pair. */
    static Scenario of(DatabasePair pair) {
        return new Scenario(pair);
    }

    /** A key of the subscription's configuration; only for the engine. */
    Scenario option(String key, String yaml) {
        options.put(key, yaml);
        return this;
    }

    Scenario jvmOption(String option) {
        jvmOptions.add(option);
        return this;
    }

    /** The engine runs in a JVM of its own, so that it can be killed. */
    Scenario ownProcess() {
        ownProcess = true;
        return this;
    }

    Scenario heap(String size) {
        heap = size;
        return this;
    }

    /** Another way to the publisher, such as a proxy's. */
    Scenario publisherUrl(String url) {
        publisherUrl = url;
        return this;
    }

    /** Another way to the target, such as a proxy's. */
    Scenario targetUrl(String url) {
        targetUrl = url;
        return this;
    }

    Database publisher() {
        return pair.publisher();
    }

    Database target() {
        return pair.target();
    }

    DatabasePair pair() {
        return pair;
    }

    Scenario onBoth(String... statements) {
        pair.onBoth(statements);
        return this;
    }

    Scenario publish(String... tables) {
        pair.publish(tables);
        return this;
    }

    /** The configuration of its engine. */
    EngineConfig config() {
        EngineConfig.Builder config = EngineConfig.subscription(pair.name())
                .from(pair.publisher(), publisherUrl)
                .to(targetUrl)
                .publications(DatabasePair.PUBLICATION);
        options.forEach(config::option);
        return config.build();
    }

    /** Starts the subscriber and waits until its copy is done and it streams. */
    Subscriber start() {
        Subscriber started = launch();
        started.awaitStreaming();
        return started;
    }

    /** Starts the subscriber and does not wait. */
    Subscriber launch() {
        Subscriber known = subscriber;
        if (known != null) {
            known.start();
            return known;
        }
        Subscriber started = NATIVE ? NativeSubscription.create(pair.name(), publisher(), target()) : engineBuilder();
        subscriber = started;
        return started;
    }

    private EngineProcess engineBuilder() {
        EngineProcess.Builder builder = EngineProcess.of(config());
        if (heap != null) {
            builder.heap(heap);
        }
        if (ownProcess) {
            builder.ownProcess();
        }
        jvmOptions.forEach(builder::jvmOption);
        return builder.start();
    }

    private Subscriber subscriber() {
        Subscriber known = subscriber;
        if (known == null) {
            throw new IllegalStateException("not started yet");
        }
        return known;
    }

    /** The subscriber as an engine; fails the test where it is PostgreSQL's own. */
    EngineProcess engine() {
        return (EngineProcess) subscriber();
    }

    /** WAIT of CASES.md. */
    void awaitCaughtUp() {
        subscriber().awaitCaughtUp();
    }

    void stop() {
        subscriber().stop();
    }

    /** WAIT, then SAME for each table. */
    void assertSame(String... tables) {
        awaitCaughtUp();
        TableComparison.of(pair).assertSame(tables);
    }

    /** The slot's name, which is also the subscription's. */
    String slot() {
        return pair.name();
    }

    /** Ends the subscriber and checks what a clean end leaves. */
    @Override
    public void close() {
        try {
            Subscriber known = subscriber;
            if (known != null) {
                known.close();
                assertNothingLeft();
            }
        } finally {
            pair.close();
        }
    }

    private void assertNothingLeft() {
        Wait.until(
                "sessions of the engine to end",
                () -> sessions(publisher()).isEmpty() && sessions(target()).isEmpty());
        assertThat(
                        publisher()
                                .column(
                                        "SELECT slot_name FROM pg_replication_slots WHERE temporary AND database = current_database()"))
                .isEmpty();
        assertThat(target().column("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"))
                .isEmpty();
    }

    /** The subscriber's sessions in one of the databases. */
    private List<String> sessions(Database database) {
        return database.column(
                "SELECT application_name || ' ' || coalesce(state, '') FROM pg_stat_activity WHERE datname ="
                        + " current_database() AND (application_name LIKE 'pgapply %' OR application_name = "
                        + Database.literal(pair.name()) + ")");
    }
}
