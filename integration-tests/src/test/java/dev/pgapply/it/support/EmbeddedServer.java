package dev.pgapply.it.support;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A server from the zonky binaries. EmbeddedPostgres unpacks them and starts the copy of a {@link ClusterTemplate} (as an unprivileged
 * user where this JVM is root); ending and freezing it goes by signals to the postmaster, which EmbeddedPostgres cannot do.
 */
final class EmbeddedServer implements ServerInstance {

    private static final Duration END = Duration.ofSeconds(60);

    private final int version;
    private final Map<String, String> settings;
    private final Path data;
    private final Path log;
    private final int port = Processes.freePort();
    private @Nullable EmbeddedPostgres started;

    /**
     * @param directory for the log
     * @param data the cluster's own directory, made at the first start and deleted at the end
     */
    EmbeddedServer(int version, Map<String, String> settings, Path directory, Path data) {
        this.version = version;
        this.settings = Map.copyOf(settings);
        this.data = data;
        this.log = directory.resolve("server.log");
    }

    @Override
    public void start() {
        if (started != null) {
            throw new IllegalStateException("the server runs already");
        }
        try {
            if (!Files.exists(data)) {
                Files.createDirectories(data.getParent());
                Files.createDirectories(log.getParent());
                new ClusterTemplate(version, this::initdb).copyTo(data);
            }
            EmbeddedPostgres.Builder builder = builder(data);
            settings.forEach(builder::setServerConfig);
            started = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("could not start PostgreSQL " + version + "; its log:\n" + log(), e);
        }
    }

    /** EmbeddedPostgres runs initdb only before it starts the cluster. */
    private void initdb(Path directory) {
        try {
            builder(directory).start().close();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "could not make a cluster of PostgreSQL " + version + "; its log:\n" + log(), e);
        }
    }

    private EmbeddedPostgres.Builder builder(Path directory) {
        return EmbeddedPostgres.builder()
                .setPgBinaryResolver(new PostgresBinaries(version))
                .setDataDirectory(directory)
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .setPGStartupWait(Duration.ofSeconds(90))
                .setLocaleConfig("locale", "C")
                .setPort(port)
                .setOutputRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .setErrorRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()));
    }

    private long postmaster() {
        try {
            return Long.parseLong(
                    Files.readAllLines(data.resolve("postmaster.pid")).get(0).trim());
        } catch (IOException e) {
            throw new UncheckedIOException("the server does not run", e);
        }
    }

    @Override
    public void stop(ShutdownMode mode) {
        long postmaster = postmaster();
        Processes.signal(mode.signal(), postmaster);
        Processes.awaitGone(postmaster, END);
        release();
    }

    @Override
    public void killNine() {
        List<Long> pids = Processes.tree(postmaster());
        pids.forEach(pid -> Processes.signal("KILL", pid));
        pids.forEach(pid -> Processes.awaitGone(pid, END));
        release();
    }

    /** Lets EmbeddedPostgres give up its lock on the data directory. */
    private void release() {
        EmbeddedPostgres ended = started;
        started = null;
        if (ended != null) {
            try {
                ended.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void pause() {
        Processes.tree(postmaster()).forEach(pid -> Processes.signal("STOP", pid));
    }

    @Override
    public void resume() {
        Processes.tree(postmaster()).forEach(pid -> Processes.signal("CONT", pid));
    }

    @Override
    public boolean isRunning() {
        return started != null && Processes.isRunning(postmaster());
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public Path data() {
        return data;
    }

    @Override
    public void saveData(Path copy) {
        Processes.run(true, "cp", "-a", data.toString(), copy.toString());
    }

    @Override
    public void restoreData(Path copy) {
        Processes.run(true, "rm", "-rf", data.toString());
        saveFrom(copy);
    }

    private void saveFrom(Path copy) {
        Processes.run(true, "cp", "-a", copy.toString(), data.toString());
    }

    @Override
    public void prependHba(String line) {
        Path hba = data.resolve("pg_hba.conf");
        try {
            String rest = Files.readString(hba);
            Files.writeString(hba, line + System.lineSeparator() + rest, StandardOpenOption.TRUNCATE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String log() {
        try {
            return Files.exists(log) ? Files.readString(log) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void discard() {
        if (started != null) {
            if (Files.exists(data.resolve("postmaster.pid"))) {
                resume();
                stop(ShutdownMode.IMMEDIATE);
            } else {
                release();
            }
        }
        Processes.run(false, "rm", "-rf", data.toString());
    }
}
