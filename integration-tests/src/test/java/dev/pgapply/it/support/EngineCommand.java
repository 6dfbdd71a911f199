package dev.pgapply.it.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A command of the engine's command line that ends by itself, such as {@code check}.
 *
 * @param exit the exit code
 * @param out what went to stdout
 * @param err what went to stderr
 */
public record EngineCommand(int exit, String out, String err) {

    /** Options of a JVM that does not live for long: compiling well costs it more than it saves. */
    static final List<String> HASTE = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final Duration AT_MOST = Duration.ofSeconds(90);

    /**
     * Runs {@code java -jar pgapply.jar ARGUMENTS} to its end, with the servers' password in the environment: in this JVM where
     * {@link EngineProcess} would, else as a process.
     */
    public static EngineCommand run(String... arguments) {
        if (!RunOptions.longRun()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            Map<String, String> environment = new TreeMap<>(System.getenv());
            environment.put(EngineConfig.PASSWORD_VARIABLE, PostgresServer.PASSWORD);
            Integer exit = EngineInThisJvm.tryCommand(environment, out, err, arguments);
            if (exit != null) {
                return new EngineCommand(
                        exit, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
            }
        }
        return runProcess(arguments);
    }

    /** The same, always as a process. */
    public static EngineCommand runProcess(String... arguments) {
        Path directory = RunOptions.newDirectory("command");
        List<String> command = new ArrayList<>(java(EngineArchive.addedTo(HASTE)));
        Collections.addAll(command, arguments);
        try {
            Files.createDirectories(directory);
            Path out = directory.resolve("out");
            Path err = directory.resolve("err");
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().put(EngineConfig.PASSWORD_VARIABLE, PostgresServer.PASSWORD);
            Process process = builder.start();
            process.getOutputStream().close();
            if (!process.waitFor(AT_MOST.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(String.join(" ", command) + " did not end within " + AT_MOST + "\n"
                        + Files.readString(out) + Files.readString(err));
            }
            return new EngineCommand(process.exitValue(), Files.readString(out), Files.readString(err));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for a command", e);
        }
    }

    /** {@code check -c FILE}. */
    public static EngineCommand check(EngineConfig config) {
        return run("check", "-c", config.file().toString());
    }

    /** The beginning of each command line of the engine. */
    static List<String> java(List<String> jvmOptions) {
        Path jar = RunOptions.engineJar();
        if (!Files.isRegularFile(jar)) {
            throw new IllegalStateException("no \"" + jar + "\": build apply-launcher first");
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.add("-Dfile.encoding=" + StandardCharsets.UTF_8);
        command.add("-jar");
        command.add(jar.toString());
        return command;
    }

    /** Both streams. */
    public String output() {
        return out + err;
    }
}
