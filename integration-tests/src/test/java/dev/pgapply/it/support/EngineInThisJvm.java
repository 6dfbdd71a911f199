package dev.pgapply.it.support;

import dev.pgapply.launcher.Main;
import dev.pgapply.launcher.console.Terminal;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The same command line in a thread of the test's JVM: a start costs a tenth of a JVM's. One at a time, since logging is the JVM's.
 * What only a process can show (signals, heap, kill -9) needs {@link EngineJvm}. At its end it must leave no thread behind.
 */
final class EngineInThisJvm implements EngineInstance {

    private static final AtomicBoolean TAKEN = new AtomicBoolean();
    private static final Duration THREADS_END = Duration.ofSeconds(20);

    private final CountDownLatch end = new CountDownLatch(1);
    private final CompletableFuture<Integer> exit = new CompletableFuture<>();

    private final List<String> subscriptions;

    private EngineInThisJvm(List<String> subscriptions) {
        this.subscriptions = subscriptions;
    }

    /** @return null where another engine or command runs in this JVM */
    static @Nullable EngineInThisJvm tryStart(EngineConfig config, Map<String, String> environment, Path log) {
        if (!TAKEN.compareAndSet(false, true)) {
            return null;
        }
        EngineInThisJvm engine = new EngineInThisJvm(config.subscriptions().stream()
                .map(EngineConfig.Subscription::name)
                .toList());
        Thread thread = new Thread(() -> engine.run(environment, config.file(), log), "engine");
        thread.setDaemon(true);
        thread.start();
        return engine;
    }

    private void run(Map<String, String> environment, Path file, Path log) {
        try (OutputStream appended = Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                PrintStream printed = new PrintStream(appended, true, StandardCharsets.UTF_8)) {
            int code = Main.execute(
                    environment, printed, new Terminal(printed, false, 100), end, "run", "-c", file.toString());
            TAKEN.set(false);
            exit.complete(code);
        } catch (IOException | RuntimeException | Error e) {
            TAKEN.set(false);
            exit.completeExceptionally(e);
        }
    }

    /** A command that ends by itself. @return null where an engine runs in this JVM */
    static @Nullable Integer tryCommand(
            Map<String, String> environment, OutputStream out, OutputStream err, String... arguments) {
        if (!TAKEN.compareAndSet(false, true)) {
            return null;
        }
        try (PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
                PrintStream said = new PrintStream(err, true, StandardCharsets.UTF_8)) {
            return Main.execute(environment, printed, new Terminal(said, false, 100), new CountDownLatch(1), arguments);
        } finally {
            TAKEN.set(false);
        }
    }

    /** Those of the engine's threads that live; they are named {@code what/subscription} or {@code what/subscription/which}. */
    private List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name ->
                        subscriptions.stream().anyMatch(of -> name.endsWith("/" + of) || name.contains("/" + of + "/")))
                .toList();
    }

    @Override
    public boolean isRunning() {
        return !exit.isDone();
    }

    @Override
    public void terminate() {
        end.countDown();
    }

    @Override
    public OptionalInt awaitExit(Duration atMost) {
        try {
            OptionalInt code = OptionalInt.of(exit.get(atMost.toMillis(), TimeUnit.MILLISECONDS));
            Wait.until(
                    "the engine's threads to end",
                    THREADS_END,
                    () -> threads().isEmpty(),
                    () -> threads().toString());
            return code;
        } catch (TimeoutException e) {
            return OptionalInt.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the engine ended by a failure", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the engine's end", e);
        }
    }

    @Override
    public Process process() {
        throw new IllegalStateException("the engine runs in the test's JVM; start it with ownProcess()");
    }
}
