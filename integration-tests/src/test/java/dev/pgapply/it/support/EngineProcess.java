package dev.pgapply.it.support;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.core.Lsn;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The engine with a configuration: in this JVM, or as people run it, {@code java -jar pgapply.jar run -c FILE}, where a test needs
 * that, another one runs in this JVM already, or {@code -Plong} is given. The test's thread owns it; REST may be asked from any thread.
 */
public final class EngineProcess implements Subscriber {

    private static final Duration CATCH_UP = RunOptions.duration(Duration.ofMinutes(2), Duration.ofMinutes(15));

    private final EngineConfig config;
    private final List<String> jvmOptions;
    private final Map<String, String> environment;
    private final boolean ownProcess;
    private final boolean archived;
    private final boolean endedByCaller;
    private final Path log;
    private final RestClient rest;
    private @Nullable EngineInstance instance;

    private EngineProcess(Builder builder) {
        this.config = builder.config;
        this.ownProcess = builder.ownProcess;
        this.archived = builder.archived;
        this.endedByCaller = builder.endedByCaller;
        this.jvmOptions = List.copyOf(builder.jvmOptions);
        this.environment = Map.copyOf(builder.environment);
        this.log = config.file().resolveSibling("engine.log");
        this.rest = new RestClient(config.port());
    }

    /** How the process is started. */
    public static final class Builder {
        private final EngineConfig config;
        private final List<String> jvmOptions = new ArrayList<>(EngineCommand.HASTE);
        private final Map<String, String> environment = new TreeMap<>();

        private boolean ownProcess = RunOptions.longRun();
        private boolean archived = true;
        private boolean endedByCaller;

        private Builder(EngineConfig config) {
            this.config = config;
            environment.put(EngineConfig.PASSWORD_VARIABLE, PostgresServer.PASSWORD);
            heapOption("128m");
        }

        /** In a JVM of its own: for what only a process has, such as an end by SIGKILL. */
        public Builder ownProcess() {
            ownProcess = true;
            return this;
        }

        /** The greatest heap, as in {@code -Xmx}, of a JVM of its own, which ends at once when that is not enough. */
        public Builder heap(String size) {
            heapOption(size);
            return ownProcess();
        }

        private void heapOption(String size) {
            jvmOptions.removeIf(option -> option.startsWith("-Xmx") || option.contains("OutOfMemory"));
            jvmOptions.add("-Xmx" + size);
            jvmOptions.add("-XX:+ExitOnOutOfMemoryError");
        }

        /** Both compilers, the JVM's own choice of a collector and no class archive, as people have it: for measurements. */
        public Builder tuned() {
            jvmOptions.removeAll(EngineCommand.HASTE);
            archived = false;
            return ownProcess();
        }

        public Builder jvmOption(String option) {
            jvmOptions.add(option);
            return ownProcess();
        }

        /**
         * In a session of its own, so that Ctrl-C does not reach it, and not ended by the JVM's shutdown hook: the caller has a hook
         * that still needs it.
         */
        public Builder endedByCaller() {
            endedByCaller = true;
            return ownProcess();
        }

        public Builder environment(String name, String value) {
            environment.put(name, value);
            return this;
        }

        public EngineProcess start() {
            EngineProcess engine = new EngineProcess(this);
            engine.start();
            return engine;
        }
    }

    public static Builder of(EngineConfig config) {
        return new Builder(config);
    }

    /** Starts an engine with the usual options. */
    public static EngineProcess start(EngineConfig config) {
        return of(config).start();
    }

    /** Starts it, again after an end; returns at once. Its log goes on in the same file. */
    @Override
    public void start() {
        EngineInstance known = instance;
        if (known != null && known.isRunning()) {
            throw new IllegalStateException("the engine runs already");
        }
        EngineInstance started = ownProcess ? null : EngineInThisJvm.tryStart(config, environment, log);
        instance = started != null ? started : startJvm();
    }

    private EngineInstance startJvm() {
        List<String> command = new ArrayList<>(endedByCaller ? List.of("setsid") : List.of());
        command.addAll(EngineCommand.java(archived ? EngineArchive.addedTo(jvmOptions) : jvmOptions));
        command.addAll(List.of("run", "-c", config.file().toString()));
        return EngineJvm.start(command, environment, config.directory(), log, endedByCaller);
    }

    private EngineInstance instance() {
        EngineInstance current = instance;
        if (current == null) {
            throw new IllegalStateException("the engine was never started");
        }
        return current;
    }

    public EngineConfig config() {
        return config;
    }

    public RestClient rest() {
        return rest;
    }

    /** The process's id; like all signals, only for one of its own. */
    public long pid() {
        return instance().process().pid();
    }

    public boolean isRunning() {
        return instance().isRunning();
    }

    /** SIGKILL; when this returns the process is gone. */
    public void killNine() {
        instance().process().destroyForcibly();
        awaitExit(Duration.ofSeconds(30));
    }

    /** SIGTERM, and the exit code: the engine has 8 s for it, the test allows 15. */
    public int terminate() {
        instance().terminate();
        return awaitExit(Duration.ofSeconds(15));
    }

    /** Waits for the end and gives the exit code. */
    public int awaitExit(Duration atMost) {
        return instance()
                .awaitExit(atMost)
                .orElseThrow(() -> new AssertionError("the engine did not end within " + atMost + "\n" + logTail()));
    }

    /** SIGSTOP: its connections stay open and it does nothing. */
    public void pause() {
        Processes.signal("STOP", pid());
    }

    /** SIGCONT after {@link #pause}. */
    public void resume() {
        Processes.signal("CONT", pid());
    }

    /** Ends it in an orderly way. */
    @Override
    public void stop() {
        int exit = terminate();
        if (exit != 0) {
            throw new AssertionError("the engine exited with " + exit + " after SIGTERM\n" + logTail());
        }
    }

    /** The only subscription of the configuration. */
    private EngineConfig.Subscription subscription() {
        if (config.subscriptions().size() != 1) {
            throw new IllegalStateException("name the subscription: there are " + config.subscriptions());
        }
        return config.subscriptions().get(0);
    }

    /** {@code /api/v1/subscriptions/<name>}. */
    public JsonNode status(String name) {
        return rest.subscription(name, "");
    }

    /** The status of the only subscription. */
    public JsonNode status() {
        return status(subscription().name());
    }

    /** Waits until the only subscription has one of these statuses. */
    public void awaitStatus(String... wanted) {
        awaitStatus(subscription().name(), CATCH_UP, Set.of(wanted));
    }

    public void awaitStatus(String name, Duration atMost, Set<String> wanted) {
        Wait.until(
                "subscription \"" + name + "\" to be " + wanted,
                atMost,
                () -> wanted.contains(status(name).path("status").asText()),
                this::explain,
                () -> !isRunning());
    }

    /** Waits until the only subscription shows an error whose message contains the text, and returns the error. */
    public JsonNode awaitError(String text) {
        String name = subscription().name();
        Wait.until(
                "an error that says \"" + text + "\"",
                CATCH_UP,
                () -> {
                    String message =
                            status(name).path("last_error").path("message").asText();
                    return !message.isEmpty() && message.contains(text);
                },
                this::explain,
                () -> !isRunning());
        return status(name).path("last_error");
    }

    @Override
    public void awaitStreaming() {
        awaitStatus("streaming");
    }

    @Override
    public void awaitCaughtUp() {
        EngineConfig.Subscription subscription = subscription();
        awaitApplied(subscription.name(), subscription.publisher().insertLsn(), CATCH_UP);
    }

    /** Waits until the subscription has applied and flushed all up to this position of the publisher. */
    public void awaitApplied(String name, Lsn end, Duration atMost) {
        Wait.until(
                "subscription \"" + name + "\" to have applied and flushed " + end,
                atMost,
                () -> {
                    JsonNode status = status(name);
                    return reached(status.path("apply_lsn"), end) && reached(status.path("flush_lsn"), end);
                },
                this::explain,
                () -> !isRunning());
    }

    private static boolean reached(JsonNode lsn, Lsn end) {
        return lsn.isTextual() && !Lsn.parse(lsn.asText()).isBefore(end);
    }

    /** All that it printed since its first start, on both streams. */
    public String log() {
        try {
            return Files.exists(log) ? Files.readString(log) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String logTail() {
        String text = log();
        return text.substring(Math.max(0, text.length() - 8_000));
    }

    /** What to add to a failure: status where it answers, and the log's end. */
    public String explain() {
        String answer;
        try {
            answer = rest.get("/api/v1/subscriptions").body();
        } catch (IllegalStateException | UncheckedIOException e) {
            answer = "no answer: " + e;
        }
        return "running: " + isRunning() + "\nstatus: " + answer + "\nlog " + log + ":\n" + logTail();
    }

    /** Ends it if it runs. CASES.md G6 is checked here for every test: no password in its log. */
    @Override
    public void close() {
        EngineInstance running = instance;
        if (running != null && running.isRunning()) {
            if (running instanceof EngineJvm) {
                resume();
            }
            running.terminate();
            if (running.awaitExit(Duration.ofSeconds(15)).isEmpty()) {
                killNine();
            }
        }
        if (log().contains(PostgresServer.PASSWORD)) {
            throw new AssertionError("the engine's log \"" + log + "\" shows a password");
        }
    }
}
