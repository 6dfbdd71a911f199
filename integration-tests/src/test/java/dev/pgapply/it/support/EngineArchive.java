package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The classes of the engine's start as a JVM has them in memory (class data sharing): a short-lived engine spends a good part of its
 * time on loading and verifying them. Written by one engine that finds no server. Thread-safe.
 */
final class EngineArchive {

    private static final Duration WRITTEN_WITHIN = Duration.ofSeconds(60);

    private static final String NO_SERVER = "postgresql://nobody@127.0.0.1:1/none";

    private EngineArchive() {}

    /** The options, with the archive; a JVM that cannot use it does without. */
    static List<String> addedTo(List<String> jvmOptions) {
        List<String> options = new ArrayList<>(jvmOptions);
        options.add("-XX:SharedArchiveFile=" + MadeOnce.get(name(), EngineArchive::write));
        return options;
    }

    /** A jar that was built anew needs another one. */
    private static String name() {
        try {
            return "engine-" + Files.getLastModifiedTime(RunOptions.engineJar()).toMillis() + ".jsa";
        } catch (IOException e) {
            throw new UncheckedIOException("no engine: build apply-launcher first", e);
        }
    }

    private static void write(Path archive) {
        EngineConfig config =
                EngineConfig.ofText("""
                state_directory: "%s"
                http: { address: "127.0.0.1:${PORT}" }
                subscriptions:
                  - name: nowhere
                    publisher: { url: "%s" }
                    target: { url: "%s" }
                    publications: [none]
                """.formatted(RunOptions.newDirectory("state"), NO_SERVER, NO_SERVER));
        List<String> options = new ArrayList<>(EngineCommand.HASTE);
        options.add("-Xlog:disable");
        options.add("-XX:ArchiveClassesAtExit=" + archive);
        List<String> command = EngineCommand.java(options);
        command.addAll(List.of("run", "-c", config.file().toString()));
        Path log = config.file().resolveSibling("engine.log");
        EngineJvm engine = EngineJvm.start(command, Map.of(), config.directory(), log, false);
        RestClient rest = new RestClient(config.port());
        Wait.until(
                "the engine to find no server",
                () -> rest.subscription("nowhere", "").path("last_error").isObject());
        engine.terminate();
        if (engine.awaitExit(WRITTEN_WITHIN).isEmpty()) {
            throw new IllegalStateException("the engine has not written its archive; see \"" + log + "\"");
        }
    }
}
