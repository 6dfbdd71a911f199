package dev.pgapply.worker.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;

/**
 * Makes the driver's sockets. A dead peer is noticed within 25 s by TCP keepalive. A connection that was opened with a {@link Lease}
 * gets a {@link PatientSocket}, and the lease gives it to whoever opened the connection: pgjdbc does not show its socket. pgjdbc makes
 * this factory by its class name; any thread.
 */
public final class PatientSocketFactory extends SocketFactory {

    private static final Map<SocketOption<Integer>, Integer> KEEPALIVE = Map.of(
            ExtendedSocketOptions.TCP_KEEPIDLE, 10,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, 5,
            ExtendedSocketOptions.TCP_KEEPCOUNT, 3);

    // Static, against the rule: pgjdbc makes the factory by reflection and hands it nothing but a text.
    private static final Map<String, Lease> LEASES = new ConcurrentHashMap<>();

    private static final AtomicLong NEXT_LEASE = new AtomicLong();

    private final @Nullable Lease lease;

    /** Called by pgjdbc. */
    public PatientSocketFactory(@Nullable String leaseKey) {
        this.lease = leaseKey == null ? null : LEASES.get(leaseKey);
    }

    /** Makes the driver take its sockets from here: plain ones with TCP keepalive. */
    public static void useFor(Properties properties) {
        PGProperty.SOCKET_FACTORY.set(properties, PatientSocketFactory.class.getName());
        // Otherwise the driver turns it off.
        PGProperty.TCP_KEEP_ALIVE.set(properties, true);
    }

    /** The way from one call that opens a connection to that connection's socket. Closed as soon as the connection is open. */
    public static final class Lease implements AutoCloseable {

        private final String key = Long.toString(NEXT_LEASE.incrementAndGet());
        private volatile @Nullable PatientSocket newest;

        public Lease() {
            LEASES.put(key, this);
        }

        /** Makes the driver take a {@link PatientSocket} for the connection that is opened with these properties. */
        public void useFor(Properties properties) {
            PatientSocketFactory.useFor(properties);
            PGProperty.SOCKET_FACTORY_ARG.set(properties, key);
        }

        /** The socket of the opened connection: the newest, as the driver may have tried several hosts, or TLS and then no TLS. */
        public PatientSocket socket() {
            PatientSocket socket = newest;
            if (socket == null) {
                throw new IllegalStateException("no connection was opened with this lease");
            }
            return socket;
        }

        @Override
        public void close() {
            LEASES.remove(key);
        }
    }

    @Override
    public Socket createSocket() throws IOException {
        Lease current = lease;
        // After the lease's end the driver only opens connections to cancel a query.
        if (current == null || !LEASES.containsKey(current.key)) {
            return new KeepAliveSocket();
        }
        PatientSocket socket = new PatientSocket();
        current.newest = socket;
        return socket;
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected(new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected(new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected(new InetSocketAddress(host, port), new InetSocketAddress(localHost, localPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected(new InetSocketAddress(host, port), new InetSocketAddress(localHost, localPort));
    }

    private Socket connected(InetSocketAddress remote) throws IOException {
        return connected(remote, new InetSocketAddress(0));
    }

    private Socket connected(InetSocketAddress remote, InetSocketAddress local) throws IOException {
        Socket socket = createSocket();
        try {
            socket.bind(local);
            socket.connect(remote);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        return socket;
    }

    /** Best effort: a system without these options keeps its own hours. */
    static void keepAlive(Socket socket) throws IOException {
        socket.setKeepAlive(true);
        for (Map.Entry<SocketOption<Integer>, Integer> option : KEEPALIVE.entrySet()) {
            if (socket.supportedOptions().contains(option.getKey())) {
                socket.setOption(option.getKey(), option.getValue());
            }
        }
    }

    private static final class KeepAliveSocket extends Socket {
        @Override
        public void connect(SocketAddress endpoint, int timeoutMillis) throws IOException {
            super.connect(endpoint, timeoutMillis);
            keepAlive(this);
        }
    }
}
