package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** An engine as people run it, {@code java -jar pgapply.jar run -c FILE}. One that is left running is ended at the end of the JVM. */
final class EngineJvm implements EngineInstance {

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "end-engines"));
    }

    private final Process process;

    private EngineJvm(Process process) {
        this.process = process;
    }

    /**
     * @param log both its streams are appended here
     * @param endedByCaller not ended at the end of this JVM
     */
    static EngineJvm start(
            List<String> command, Map<String, String> environment, Path directory, Path log, boolean endedByCaller) {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        try {
            Process started = builder.start();
            RUNNING.removeIf(ended -> !ended.isAlive());
            if (!endedByCaller) {
                RUNNING.add(started);
            }
            return new EngineJvm(started);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isRunning() {
        return process.isAlive();
    }

    @Override
    public void terminate() {
        process.destroy();
    }

    @Override
    public OptionalInt awaitExit(Duration atMost) {
        try {
            return process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)
                    ? OptionalInt.of(process.exitValue())
                    : OptionalInt.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the engine's end", e);
        }
    }

    @Override
    public Process process() {
        return process;
    }
}
