package dev.pgapply.it.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy in front of a server that can be slow, silent, or cut connections at a chosen moment. Two threads a connection. All of
 * its faults may be switched from any thread while connections are open.
 */
public final class TcpProxy implements AutoCloseable {

    /** When a connection is cut that sends the bytes waited for. */
    public enum Moment {
        /** The server never gets them. */
        BEFORE,
        /** The server gets them; the client gets no answer. */
        AFTER,
        /** The server gets them and answers; the answer is thrown away. */
        AFTER_ANSWER
    }

    /** One cut that is still to come. */
    private record Trap(byte[] pattern, Moment moment) {}

    private static final long LINGER_MILLIS = 500;

    private final ServerSocket listener;
    private final int serverPort;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
    private final AtomicInteger cuts = new AtomicInteger();
    private final AtomicInteger exchanges = new AtomicInteger();
    private final Object gate = new Object();
    private volatile long delayMillis;
    private volatile boolean refusing;
    private boolean paused;

    private TcpProxy(ServerSocket listener, int serverPort) {
        this.listener = listener;
        this.serverPort = serverPort;
    }

    /** Listens on a free port and forwards to this port of 127.0.0.1. */
    public static TcpProxy to(int serverPort) {
        try {
            ServerSocket listener = new ServerSocket(Processes.freePort(), 50, InetAddress.getLoopbackAddress());
            TcpProxy proxy = new TcpProxy(listener, serverPort);
            proxy.thread("accept", proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Each piece of data waits this long before it goes on, in both directions: half of a round trip. */
    public void delay(Duration oneWay) {
        delayMillis = oneWay.toMillis();
    }

    /** Nothing goes on, and nothing is closed, until {@link #resume}. */
    public void pause() {
        synchronized (gate) {
            paused = true;
        }
    }

    public void resume() {
        synchronized (gate) {
            paused = false;
            gate.notifyAll();
        }
    }

    /** Closes all connections on both sides; new ones are welcome. */
    public void cut() {
        links.forEach(Link::close);
    }

    /** Whether new connections are closed at once. */
    public void refuse(boolean refused) {
        refusing = refused;
    }

    /**
     * Cuts the next connection that sends this text (in one piece, which holds for a short statement), once. Where the server has got
     * the text, its side stays open half a second longer, so that the old backend works on as if nobody had told it.
     */
    public void cutAt(String text, Moment moment) {
        trap.set(new Trap(text.getBytes(StandardCharsets.UTF_8), moment));
    }

    /** How many cuts {@link #cutAt} has made. */
    public int cuts() {
        return cuts.get();
    }

    /** How often a client has sent something behind what the server had answered: its round trips. */
    public int exchanges() {
        return exchanges.get();
    }

    /** How many connections are open. */
    public int connections() {
        return links.size();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                if (refusing) {
                    client.close();
                } else {
                    connect(client);
                }
            } catch (IOException closedOrServerAway) {
                // The next client may have more luck; a closed listener ends the loop.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server = new Socket();
        try {
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), serverPort), 5_000);
        } catch (IOException e) {
            client.close();
            throw e;
        }
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        Link link = new Link(client, server);
        links.add(link);
        thread("up", () -> link.pump(client, server, true));
        thread("down", () -> link.pump(server, client, false));
    }

    private void thread(String role, Runnable body) {
        Thread thread = new Thread(body, "proxy-" + port() + "-" + role);
        thread.setDaemon(true);
        thread.start();
    }

    private void waitAtGate() {
        synchronized (gate) {
            while (paused) {
                try {
                    gate.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    /** A client's connection and the server's. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private volatile boolean swallowing;
        private final AtomicBoolean answered = new AtomicBoolean(true);

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pump(Socket from, Socket to, boolean up) {
            byte[] buffer = new byte[64 * 1024];
            try {
                InputStream input = from.getInputStream();
                OutputStream output = to.getOutputStream();
                for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
                    if (!up && swallowing) {
                        return;
                    }
                    if (!up) {
                        answered.set(true);
                    } else if (answered.getAndSet(false)) {
                        exchanges.incrementAndGet();
                    }
                    forward(buffer, length, output, up);
                }
            } catch (IOException endOfConnection) {
                // The other direction ends with it.
            } finally {
                close();
            }
        }

        private void forward(byte[] buffer, int length, OutputStream output, boolean up) throws IOException {
            if (delayMillis > 0) {
                pauseFor(delayMillis);
            }
            waitAtGate();
            Trap sprung = up ? springs(buffer, length) : null;
            if (sprung == null) {
                output.write(buffer, 0, length);
                return;
            }
            cuts.incrementAndGet();
            switch (sprung.moment()) {
                case BEFORE -> {}
                case AFTER -> {
                    // In this order: the answer may come faster than a close.
                    client.close();
                    output.write(buffer, 0, length);
                    pauseFor(LINGER_MILLIS);
                }
                case AFTER_ANSWER -> {
                    swallowing = true;
                    output.write(buffer, 0, length);
                    pauseFor(LINGER_MILLIS);
                }
            }
            throw new IOException("cut");
        }

        private @Nullable Trap springs(byte[] buffer, int length) {
            Trap set = trap.get();
            return set != null && contains(buffer, length, set.pattern()) && trap.compareAndSet(set, null) ? set : null;
        }

        private void pauseFor(long millis) throws IOException {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }

        void close() {
            links.remove(this);
            closeQuietly(client);
            closeQuietly(server);
        }
    }

    private static boolean contains(byte[] buffer, int length, byte[] pattern) {
        for (int start = 0; start + pattern.length <= length; start++) {
            int matched = 0;
            while (matched < pattern.length && buffer[start + matched] == pattern[matched]) {
                matched++;
            }
            if (matched == pattern.length) {
                return true;
            }
        }
        return false;
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException closedAlready) {
            // Closed is what was wanted.
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        resume();
        cut();
    }
}
