package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PatientSocketTest {

    private static final Duration MOMENT = Duration.ofMillis(10);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final PatientSocket socket = new PatientSocket();
    private Socket peer = new Socket();
    private InputStream input = InputStream.nullInputStream();
    private OutputStream peerOutput = OutputStream.nullOutputStream();

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            socket.connect(server.getLocalSocketAddress(), 10_000);
            peer = server.accept();
        }
        input = socket.getInputStream();
        peerOutput = peer.getOutputStream();
    }

    @AfterEach
    void close() throws IOException {
        socket.abort();
        peer.close();
    }

    @Test
    void nothing_is_readable_until_a_byte_comes() throws Exception {
        assertThat(socket.awaitReadable(MOMENT)).isFalse();

        peerOutput.write(new byte[] {1, 2, 3});

        assertThat(socket.awaitReadable(LONG)).isTrue();
        assertThat(input.readNBytes(3)).containsExactly(1, 2, 3);
        assertThat(socket.awaitReadable(MOMENT)).isFalse();
        assertThat(socket.bytesReceived()).isEqualTo(3);
    }

    @Test
    void the_buffer_counts_as_available() throws Exception {
        peerOutput.write(new byte[] {1, 2, 3});
        assertThat(socket.awaitReadable(LONG)).isTrue();

        assertThat(input.read()).isEqualTo(1);

        assertThat(input.available()).isEqualTo(2);
        assertThat(socket.awaitReadable(MOMENT)).isTrue();
    }

    @Test
    void the_end_of_the_stream_is_readable_and_stays() throws Exception {
        peer.close();

        assertThat(socket.awaitReadable(LONG)).isTrue();
        assertThat(input.read()).isEqualTo(-1);
        assertThat(input.read()).isEqualTo(-1);
        assertThat(socket.awaitReadable(LONG)).isTrue();
    }

    @Test
    void a_peek_finds_nothing_without_losing_what_comes_later() throws Exception {
        socket.setSoTimeout(1);
        assertThatThrownBy(() -> input.read()).isInstanceOf(SocketTimeoutException.class);

        peerOutput.write(7);
        assertThat(socket.awaitReadable(LONG)).isTrue();

        assertThat(input.read()).isEqualTo(7);
        assertThat(socket.getSoTimeout()).isEqualTo(1);
    }

    @Test
    void a_peek_that_has_found_something_waits_for_the_rest() throws Exception {
        AtomicInteger waits = new AtomicInteger();
        socket.setWaiter(
                () -> {
                    if (waits.incrementAndGet() == 3) {
                        peerOutput.write(8);
                    }
                },
                MOMENT);
        peerOutput.write(7);
        assertThat(socket.awaitReadable(LONG)).isTrue();
        socket.setSoTimeout(1);

        assertThat(input.readNBytes(2)).containsExactly(7, 8);
        assertThat(waits).hasValueGreaterThanOrEqualTo(3);
    }

    @Test
    void a_timeout_of_the_driver_holds() throws Exception {
        socket.setSoTimeout(20);

        assertThatThrownBy(() -> input.read()).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void a_waiter_can_give_a_read_up() throws Exception {
        socket.setWaiter(
                () -> {
                    throw new IOException("enough");
                },
                MOMENT);

        assertThatThrownBy(() -> input.read()).hasMessage("enough");
    }

    @Test
    void another_thread_can_cut_it_off() throws Exception {
        CompletableFuture<Integer> read = CompletableFuture.supplyAsync(() -> {
            try {
                return input.read();
            } catch (SocketException e) {
                return -2;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });

        socket.abort();

        assertThat(read.get()).isEqualTo(-2);
    }

    @Test
    void a_lingering_close_lets_the_peer_read_the_last_words_although_bytes_are_unread() throws Exception {
        peerOutput.write(new byte[1000]);
        socket.getOutputStream().write("good-bye".getBytes(StandardCharsets.US_ASCII));
        socket.lingerOnClose(LONG);
        CompletableFuture<String> heard = CompletableFuture.supplyAsync(() -> {
            try {
                String words = new String(peer.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
                peer.close();
                return words;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });

        socket.close();

        assertThat(heard.get()).isEqualTo("good-bye");
    }

    @Test
    void keepalive_notices_a_dead_peer_within_seconds() throws Exception {
        assertThat(socket.getKeepAlive()).isTrue();
        assertThat(socket.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(10);
    }

    @Test
    void a_lease_gives_the_newest_socket_and_ends() throws Exception {
        Properties properties = new Properties();
        PatientSocketFactory.Lease lease = new PatientSocketFactory.Lease();
        lease.useFor(properties);
        PatientSocketFactory factory = new PatientSocketFactory(properties.getProperty("socketFactoryArg"));
        Socket first = factory.createSocket();
        Socket second = factory.createSocket();

        assertThat(lease.socket()).isSameAs(second).isNotSameAs(first);
        lease.close();
        assertThat(factory.createSocket()).isNotInstanceOf(PatientSocket.class);
    }
}
