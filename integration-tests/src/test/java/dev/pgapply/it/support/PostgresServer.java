package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A PostgreSQL server for tests: from the zonky binaries, or a container with {@code pgapply.it.servers=containers}. It keeps its
 * port and data over restarts. Durability is off unless {@link Builder#durable()} was asked for. Starting, stopping and killing are
 * for one thread at a time; connections may be opened from any.
 *
 * <p>Whatever runs at the end of the JVM is ended by a shutdown hook, except servers {@linkplain Builder#endedByCaller ended by the
 * caller}.
 */
public final class PostgresServer implements AutoCloseable {

    /** The role that may do everything; the only one with which a new server is created. */
    public static final String SUPERUSER = "postgres";

    /** The superuser's password; servers from the binaries trust everybody, but it is sent all the same. */
    public static final String PASSWORD = "it-S3cret-0f-superuser";

    private static final Set<PostgresServer> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(PostgresServer::close), "end-servers"));
    }

    private final int version;
    private final Path directory;
    private final ServerInstance instance;
    private final IdleSessions sessions = new IdleSessions();
    private int copies;

    private PostgresServer(int version, Path directory, ServerInstance instance) {
        this.version = version;
        this.directory = directory;
        this.instance = instance;
    }

    /** A server that can be a publisher: wal_level logical, 20 slots and walsenders. */
    public static Builder publisher(int version) {
        return new Builder(version)
                .setting("wal_level", "logical")
                .setting("max_wal_senders", "20")
                .setting("max_replication_slots", "20");
    }

    /** A server with PostgreSQL's own wal_level, replica; it has workers enough for a native subscription beside an engine. */
    public static Builder target(int version) {
        // Every subscription of every test leaves an origin's state behind, which only these settings bound (before 18
        // the slots').
        Builder builder = new Builder(version).setting("max_replication_slots", "200");
        if (version >= 18) {
            builder.setting("max_active_replication_origins", "200");
        }
        return builder.setting("max_logical_replication_workers", "10")
                .setting("wal_retrieve_retry_interval", "500ms")
                .setting("track_commit_timestamp", "on");
    }

    /** Settings of a server that is not started yet. */
    public static final class Builder {
        /**
         * What a server spends for a crash of the machine and for a long life, neither of which a test has: each new database brings a
         * checkpoint, and behind it every page goes into the WAL as a whole.
         */
        private static final Map<String, String> HASTE = Map.of(
                "full_page_writes", "off",
                "wal_init_zero", "off",
                "autovacuum", "off",
                "max_parallel_workers_per_gather", "0");

        private static final String IO_METHOD = "io_method";

        private final int version;
        private final Map<String, String> settings = new LinkedHashMap<>();
        private boolean endedByCaller;
        private boolean inHaste = true;

        private Builder(int version) {
            this.version = version;
            setting("unix_socket_directories", "''");
            setting("shared_buffers", "64MB");
            setting("max_connections", "200");
            setting("max_worker_processes", "20");
            setting("max_prepared_transactions", "20");
            setting("max_wal_size", "4GB");
            setting("checkpoint_timeout", "30min");
            setting("jit", "off");
            // A worker looks at each database once a minute, and costs a backend.
            setting("autovacuum_naptime", "10min");
            setting("synchronous_commit", "off");
            setting("log_line_prefix", "'%m-[%p]-%a-'");
            HASTE.forEach(this::setting);
            if (version >= 18) {
                // What was just written is in the system's memory: asking another process for it costs two switches.
                setting(IO_METHOD, "sync");
            }
        }

        /** A setting of postgresql.conf; it goes on the command line, so ALTER SYSTEM does not reach it. */
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /** On the disk, and as people have it where tests have haste: for what is measured, or runs for long. */
        public Builder unhurried() {
            settings.keySet().removeAll(HASTE.keySet());
            settings.remove(IO_METHOD);
            inHaste = false;
            return this;
        }

        /** fsync and synchronous_commit on: for tests about what survives a crash. */
        public Builder durable() {
            return unhurried().setting("fsync", "on").setting("synchronous_commit", "on");
        }

        /** Not ended by the JVM's shutdown hook: the caller has one of its own, which still needs the server. */
        public Builder endedByCaller() {
            endedByCaller = true;
            return this;
        }

        private Path data(Path directory) {
            Path memory = inHaste ? MemoryDirectory.create() : null;
            return memory == null ? directory.resolve("data") : memory;
        }

        public PostgresServer start() {
            Path directory = RunOptions.newDirectory("postgres" + version);
            ServerInstance instance = RunOptions.containers()
                    ? new ContainerServer(version, settings, directory)
                    : new EmbeddedServer(version, settings, directory, data(directory));
            PostgresServer server = new PostgresServer(version, directory, instance);
            instance.start();
            if (!endedByCaller) {
                RUNNING.add(server);
            }
            return server;
        }
    }

    public int version() {
        return version;
    }

    public int port() {
        return instance.port();
    }

    /** The database of that name, which need not exist yet. */
    public Database database(String name) {
        return new Database(this, name);
    }

    /** The database {@code postgres}, for commands about the server. */
    public Database maintenance() {
        return database("postgres");
    }

    /** Creates a database; the name is quoted. */
    public Database createDatabase(String name) {
        // Copying template1's files costs less than logging its pages, which is the default from 15 on.
        maintenance().execute("CREATE DATABASE " + Database.quote(name) + (version >= 15 ? " STRATEGY file_copy" : ""));
        return database(name);
    }

    /** Starts it again after {@link #stop} or {@link #killNine}; when this returns it answers queries. */
    public void start() {
        instance.start();
        sessions.keep();
    }

    /** Ends it and waits for the end. */
    public void stop(ShutdownMode mode) {
        sessions.keepNone();
        instance.stop(mode);
    }

    public void restart(ShutdownMode mode) {
        stop(mode);
        start();
    }

    /** SIGKILL to the postmaster and all its children. The next {@link #start} is a crash recovery. */
    public void killNine() {
        sessions.keepNone();
        instance.killNine();
    }

    /** SIGSTOP to all its processes: connections stay open and nobody answers. */
    public void pause() {
        sessions.keepNone();
        instance.pause();
    }

    /** SIGCONT after {@link #pause}. */
    public void resume() {
        instance.resume();
        sessions.keep();
    }

    public boolean isRunning() {
        return instance.isRunning();
    }

    /** Stops the server, copies its data directory, and starts it again. */
    public Path takeBaseCopy() {
        Path copy = directory.resolve("copy-" + ++copies);
        stop(ShutdownMode.FAST);
        instance.saveData(copy);
        start();
        return copy;
    }

    /** Puts the server back to an earlier state, as a restored backup would. */
    public void restore(Path copy) {
        if (isRunning()) {
            stop(ShutdownMode.FAST);
        }
        instance.restoreData(copy);
        start();
    }

    /** From now on the role must give its password over TCP; other roles stay trusted. */
    public void requirePassword(String role) {
        instance.prependHba("host all,replication " + role + " all scram-sha-256");
        maintenance().execute("SELECT pg_reload_conf()");
    }

    /** Those of its {@link Database}s' sessions that wait for a command. */
    IdleSessions sessions() {
        return sessions;
    }

    /** All the server has logged so far. */
    public String log() {
        return instance.log();
    }

    /** Where the cluster is: its data directory. */
    public Path data() {
        return instance.data();
    }

    /** Where its log and copies are. */
    public Path directory() {
        return directory;
    }

    @Override
    public void close() {
        RUNNING.remove(this);
        sessions.keepNone();
        instance.discard();
        if (copies == 0) {
            return;
        }
        try (var copiesLeft = Files.newDirectoryStream(directory, "copy-*")) {
            copiesLeft.forEach(copy -> Processes.run(false, "rm", "-rf", copy.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return "PostgreSQL " + version + " on port " + port();
    }
}
