package dev.pgapply.it.support;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A server in a container of the official image, on a fixed port so that a restart keeps it. */
final class ContainerServer implements ServerInstance {

    private static final Duration END = Duration.ofSeconds(60);
    private static final String DATA = "/var/lib/postgresql/data";

    private final GenericContainer<?> container;
    private final int port = Processes.freePort();
    private boolean created;

    ContainerServer(int version, Map<String, String> settings, Path directory) {
        List<String> command = new ArrayList<>(List.of("postgres"));
        settings.forEach((name, value) -> {
            if (!name.equals("unix_socket_directories")) {
                command.add("-c");
                command.add(name + "=" + value.replaceAll("^'(.*)'$", "$1"));
            }
        });
        if (!settings.containsKey("fsync")) {
            command.addAll(List.of("-c", "fsync=off"));
        }
        container = new GenericContainer<>(DockerImageName.parse("postgres:" + version))
                .withEnv("POSTGRES_PASSWORD", PostgresServer.PASSWORD)
                .withEnv("PGDATA", DATA)
                .withLabel("pgapply.directory", directory.getFileName().toString())
                .withCommand(command.toArray(String[]::new));
        container.setPortBindings(List.of("127.0.0.1:" + port + ":5432"));
    }

    @Override
    public void start() {
        if (created) {
            docker().startContainerCmd(container.getContainerId()).exec();
        } else {
            container.start();
            created = true;
        }
        Wait.until("PostgreSQL in a container to answer", Duration.ofSeconds(90), this::answers, this::log);
    }

    private boolean answers() throws SQLException {
        try (Connection connection = DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:" + port + "/postgres?connectTimeout=2&socketTimeout=5",
                PostgresServer.SUPERUSER,
                PostgresServer.PASSWORD)) {
            return connection.isValid(5);
        }
    }

    private static DockerClient docker() {
        return DockerClientFactory.lazyClient();
    }

    @Override
    public void stop(ShutdownMode mode) {
        signalAndWait("SIG" + mode.signal());
    }

    @Override
    public void killNine() {
        signalAndWait("SIGKILL");
    }

    private void signalAndWait(String signal) {
        docker().killContainerCmd(container.getContainerId()).withSignal(signal).exec();
        Wait.until("the container to end", END, () -> !isRunning());
    }

    @Override
    public void pause() {
        docker().pauseContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public void resume() {
        docker().unpauseContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public boolean isRunning() {
        try {
            return Boolean.TRUE.equals(docker().inspectContainerCmd(container.getContainerId())
                    .exec()
                    .getState()
                    .getRunning());
        } catch (NotFoundException | ConflictException e) {
            return false;
        }
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public Path data() {
        throw new UnsupportedOperationException("the data directory needs pgapply.it.servers=embedded");
    }

    @Override
    public void saveData(Path copy) {
        throw new UnsupportedOperationException("base copies need pgapply.it.servers=embedded");
    }

    @Override
    public void restoreData(Path copy) {
        throw new UnsupportedOperationException("base copies need pgapply.it.servers=embedded");
    }

    @Override
    public void prependHba(String line) {
        try {
            ExecResult result = container.execInContainer(
                    "sh",
                    "-c",
                    "f=" + DATA + "/pg_hba.conf; { echo '" + line + "'; cat $f; } > /tmp/hba && cat /tmp/hba > $f");
            if (result.getExitCode() != 0) {
                throw new IllegalStateException("could not write pg_hba.conf: " + result.getStderr());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while writing pg_hba.conf", e);
        }
    }

    @Override
    public String log() {
        return container.getLogs();
    }

    @Override
    public void discard() {
        container.stop();
    }
}
