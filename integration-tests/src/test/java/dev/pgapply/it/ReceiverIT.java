package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.TcpProxy;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.FeedbackPositions;
import dev.pgapply.worker.stream.Frame;
import dev.pgapply.worker.stream.Keepalive;
import dev.pgapply.worker.stream.PgOutputOptions;
import dev.pgapply.worker.stream.ReceiveQueue;
import dev.pgapply.worker.stream.Receiver;
import dev.pgapply.worker.stream.ReceiverOptions;
import dev.pgapply.worker.stream.XLogData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The receiver against a publisher that gives up a silent peer after two seconds. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReceiverIT {

    private static final Duration WAL_SENDER_TIMEOUT = Duration.ofSeconds(2);
    private static final int VERSION = RunOptions.publisherVersion();
    private static final long ROOMY = 1 << 20;

    private final PostgresServer server = PostgresServer.publisher(VERSION)
            .setting("wal_sender_timeout", WAL_SENDER_TIMEOUT.toSeconds() + "s")
            .start();
    private final List<Frame> frames = new ArrayList<>();
    private int counter;
    private Database database = server.maintenance();
    private volatile FeedbackPositions positions = FeedbackPositions.NONE;

    @BeforeEach
    void createDatabase() {
        positions = FeedbackPositions.NONE;
        frames.clear();
        database = server.createDatabase("receiver" + ++counter);
        prepare();
    }

    private void prepare() {
        database.execute(
                "CREATE TABLE t(id int PRIMARY KEY, v text)",
                "CREATE PUBLICATION \"It's a pub\" FOR TABLE t",
                "SELECT pg_create_logical_replication_slot('" + slot() + "', 'pgoutput')");
    }

    @AfterEach
    void dropDatabase() {
        database.drop();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    void a_transaction_comes_as_frames_and_its_confirmation_reaches_the_slot() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (Receiver receiver = start(queue)) {
            database.execute("INSERT INTO t VALUES (1, 'one')");

            takeUntilCommit(queue);
            Lsn end = lastCommit();
            positions = new FeedbackPositions(end, end, end);
            receiver.nudge();

            Wait.until(
                    "the slot to be confirmed",
                    () -> !database.confirmedFlushLsn(slot()).isBefore(end));
            assertThat(messageTypes()).isEqualTo("BRIC");
        }
    }

    @Test
    void a_queue_that_stays_full_for_twice_the_timeout_keeps_the_walsender() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(4096);
        try (Receiver receiver = start(queue)) {
            String pid = walSenderPid();
            database.execute("INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i");
            // Full is when another row, 1.2 kB with its overhead, does not fit; how many keepalives came before it is
            // chance.
            Wait.until("the queue to be full", () -> queue.bytes() > 4096 - 1200);

            outlast(WAL_SENDER_TIMEOUT.multipliedBy(2));

            assertThat(walSenderPid()).isEqualTo(pid);
            takeUntilCommit(queue);
            assertThat(frames.stream().filter(XLogData.class::isInstance)).hasSize(20_003);
            assertThat(receiver).isNotNull();
        }
    }

    @Test
    void a_message_that_takes_longer_than_the_timeout_to_arrive_keeps_the_walsender() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Receiver receiver = start(queue, url(proxy.port()), Duration.ofSeconds(60))) {
            String pid = walSenderPid();
            // 20 MB in pieces of 64 kB, each of which waits.
            proxy.delay(Duration.ofMillis(15));
            long start = System.nanoTime();
            database.execute("INSERT INTO t SELECT 1, string_agg(md5(i::text), '') FROM generate_series(1, 640000) i");

            takeUntilCommit(queue);

            assertThat(System.nanoTime() - start)
                    .isGreaterThan(WAL_SENDER_TIMEOUT.multipliedBy(2).toNanos());
            assertThat(walSenderPid()).isEqualTo(pid);
            assertThat(messageTypes()).isEqualTo("BRIC");
            assertThat(receiver).isNotNull();
        }
    }

    @Test
    void a_publisher_that_is_cut_off_in_silence_is_given_up_after_the_timeout() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Receiver receiver = start(queue, url(proxy.port()), Duration.ofSeconds(3))) {
            outlast(Duration.ofSeconds(4));
            assertThat(queue.drainTo(frames, Duration.ZERO))
                    .as("keepalives of a living publisher")
                    .isPositive();

            proxy.pause();

            assertThatThrownBy(() -> takeUntilCommit(queue))
                    .hasMessage("terminating logical replication worker due to timeout")
                    .extracting("kind")
                    .isEqualTo(Kind.CONNECTION);
            assertThat(receiver).isNotNull();
        }
    }

    @Test
    void a_stream_over_tls_is_read_and_answered(@TempDir Path directory) throws Exception {
        assumeFalse(RunOptions.containers(), "a container does not see the key's file");
        Path key = copy("server.key", directory);
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        try (PostgresServer tls = PostgresServer.publisher(VERSION)
                .setting("wal_sender_timeout", WAL_SENDER_TIMEOUT.toSeconds() + "s")
                .setting("ssl", "on")
                .setting("ssl_cert_file", copy("server.crt", directory).toString())
                .setting("ssl_key_file", key.toString())
                .start()) {
            database = tls.createDatabase("tls");
            prepare();
            ReceiveQueue queue = new ReceiveQueue(4096);
            String url = database.libpqUrl(PostgresServer.SUPERUSER, tls.port()) + "?sslmode=require";
            try (Receiver receiver = start(queue, url, Duration.ofSeconds(60))) {
                String pid = walSenderPid();
                database.execute("INSERT INTO t SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 5000) i");
                outlast(WAL_SENDER_TIMEOUT.multipliedBy(2));

                takeUntilCommit(queue);

                assertThat(frames.stream().filter(XLogData.class::isInstance)).hasSize(5_003);
                assertThat(walSenderPid()).isEqualTo(pid);
                assertThat(database.isTrue("SELECT ssl FROM pg_stat_ssl WHERE pid = " + pid))
                        .isTrue();
                assertThat(receiver).isNotNull();
            }
        }
        database = server.createDatabase("receiver" + ++counter);
    }

    private static Path copy(String name, Path directory) throws IOException {
        try (InputStream source = ReceiverIT.class.getResourceAsStream("/tls/" + name)) {
            Path file = directory.resolve(name);
            Files.copy(Objects.requireNonNull(source, name), file);
            return file;
        }
    }

    @Test
    void an_idle_stream_shows_the_walsenders_position_by_keepalives() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (Receiver receiver = start(queue)) {
            database.execute("CREATE TABLE other(id int)", "INSERT INTO other VALUES (1)");
            Lsn end = database.insertLsn();

            Wait.until("a keepalive behind the other table's change", () -> {
                queue.drainTo(frames, Duration.ofMillis(100));
                return frames.stream()
                        .anyMatch(f -> f instanceof Keepalive && !f.endLsn().isBefore(end));
            });
            assertThat(receiver).isNotNull();
        }
    }

    @Test
    void a_restarted_publisher_is_a_lost_connection_in_its_own_words() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (Receiver receiver = start(queue)) {
            database.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active");

            assertThatThrownBy(() -> takeUntilCommit(queue))
                    .asInstanceOf(InstanceOfAssertFactories.type(ApplyException.class))
                    .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.CONNECTION))
                    .satisfies(e -> assertThat(e.getMessage())
                            .isEqualTo("lost the connection to the publisher:"
                                    + " terminating connection due to administrator command"));
            assertThat(receiver).isNotNull();
        }
    }

    @Test
    void a_publisher_that_shuts_down_orderly_and_one_that_crashes_are_lost_connections() throws Exception {
        for (ShutdownMode mode : new ShutdownMode[] {ShutdownMode.FAST, ShutdownMode.IMMEDIATE}) {
            ReceiveQueue queue = new ReceiveQueue(ROOMY);
            try (Receiver receiver = start(queue)) {
                CompletableFuture<Void> restart = CompletableFuture.runAsync(() -> server.restart(mode));

                assertThatThrownBy(() -> confirmAll(queue))
                        .isInstanceOf(ApplyException.class)
                        .hasMessageStartingWith("lost the connection to the publisher: ")
                        .extracting("kind")
                        .isEqualTo(Kind.CONNECTION);
                restart.join();
                assertThat(receiver).isNotNull();
            }
        }
    }

    @Test
    void a_slot_in_use_names_the_pid_and_a_closed_receiver_frees_it() throws Exception {
        Receiver first = start(new ReceiveQueue(ROOMY));
        String pid = walSenderPid();
        assertThatThrownBy(() -> start(new ReceiveQueue(ROOMY)))
                .hasMessageContaining("is active for PID " + pid)
                .extracting("kind")
                .isEqualTo(Kind.SLOT_IN_USE);

        first.close();

        start(new ReceiveQueue(ROOMY)).close();
    }

    @Test
    void a_slot_that_does_not_exist_is_lost() {
        database.dropSlot(slot());

        assertThatThrownBy(() -> start(new ReceiveQueue(ROOMY)))
                .hasMessage("could not start replication from slot \"" + slot() + "\": replication slot \"" + slot()
                        + "\" does not exist")
                .extracting("kind")
                .isEqualTo(Kind.SLOT_LOST);
    }

    @Test
    void a_dropped_publication_is_an_error_also_where_the_publisher_only_warns() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(ROOMY);
        try (Receiver unused = start(queue)) {
            database.execute("DROP PUBLICATION \"It's a pub\"", "INSERT INTO t VALUES (1, 'nopub')");

            assertThatThrownBy(() -> takeUntilCommit(queue))
                    .hasMessageContaining("publication \"It's a pub\"")
                    .hasMessageContaining("not exist")
                    .extracting("kind")
                    .isEqualTo(Kind.PRECONDITION);
        }
    }

    @Test
    void an_invalidated_slot_is_lost_in_the_servers_words() {
        database.execute(
                "ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'",
                "SELECT pg_reload_conf()",
                "INSERT INTO t VALUES (1, 'before')");
        try {
            Wait.until("the slot to be invalidated", () -> {
                database.execute("SELECT pg_switch_wal()", "INSERT INTO t SELECT max(id) + 1 FROM t", "CHECKPOINT");
                return database.isTrue(
                        "SELECT wal_status = 'lost' FROM pg_replication_slots WHERE slot_name = '" + slot() + "'");
            });

            assertThatThrownBy(() -> start(new ReceiveQueue(ROOMY)))
                    .asInstanceOf(InstanceOfAssertFactories.type(ApplyException.class))
                    .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SLOT_LOST))
                    .satisfies(e -> assertThat(e.getMessage()).contains("nvalidated"))
                    .satisfies(e -> assertThat(e.hint()).contains("no slot is created"));
        } finally {
            database.execute("ALTER SYSTEM RESET max_slot_wal_keep_size", "SELECT pg_reload_conf()");
        }
    }

    @Test
    void a_receiver_closes_within_seconds_though_the_publisher_is_frozen() throws Exception {
        Receiver receiver = start(new ReceiveQueue(ROOMY));
        server.pause();
        try {
            receiver.close();
        } finally {
            server.resume();
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("receiver/" + database.name());
    }

    private Receiver start(ReceiveQueue queue) {
        return start(queue, url(server.port()), Duration.ofSeconds(60));
    }

    private String url(int port) {
        return database.libpqUrl(PostgresServer.SUPERUSER, port);
    }

    private Receiver start(ReceiveQueue queue, String url, Duration receiveTimeout) {
        ReceiverOptions options = new ReceiverOptions(
                database.name(),
                slot(),
                Lsn.ZERO,
                PgOutputOptions.forPublisher(
                        VERSION * 10_000,
                        List.of("It's a pub"),
                        false,
                        StreamingMode.OFF,
                        SubscriptionOptions.Origin.ANY),
                Duration.ofSeconds(10),
                receiveTimeout);
        return Receiver.start(
                new PostgresConnections(ConnectionUrl.parse(url, PostgresServer.PASSWORD, "nobody")),
                options,
                () -> positions,
                queue,
                new SubscriptionStats(database.name(), Clock.systemUTC()),
                System::nanoTime,
                Clock.systemUTC());
    }

    private String slot() {
        return "slot" + counter;
    }

    private String walSenderPid() {
        return String.valueOf(
                database.value("SELECT active_pid FROM pg_replication_slots WHERE slot_name = '" + slot() + "'"));
    }

    /** An orderly shutdown waits until its last position is confirmed. */
    private void confirmAll(ReceiveQueue queue) throws InterruptedException {
        long deadline = System.nanoTime() + Wait.SOON.toNanos();
        while (System.nanoTime() < deadline) {
            frames.clear();
            queue.drainTo(frames, Duration.ofMillis(100));
            for (Frame frame : frames) {
                Lsn end = frame.endLsn().max(positions.flush());
                positions = new FeedbackPositions(end, end, end);
            }
        }
    }

    private static void outlast(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        Wait.until(time.toMillis() + " ms to pass", () -> System.nanoTime() - end >= 0);
    }

    private void takeUntilCommit(ReceiveQueue queue) throws InterruptedException {
        long deadline = System.nanoTime() + Wait.SOON.toNanos();
        while (!messageTypes().endsWith("C")) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no commit came, only " + messageTypes());
            }
            queue.drainTo(frames, Duration.ofSeconds(1));
        }
    }

    private Lsn lastCommit() {
        return frames.stream()
                .filter(XLogData.class::isInstance)
                .reduce((a, b) -> b)
                .orElseThrow()
                .endLsn();
    }

    private String messageTypes() {
        StringBuilder types = new StringBuilder();
        for (Frame frame : frames) {
            if (frame instanceof XLogData data) {
                types.append((char) data.frame()[data.messageOffset()]);
            }
        }
        return types.toString();
    }
}
