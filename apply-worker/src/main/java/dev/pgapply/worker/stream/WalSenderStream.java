package dev.pgapply.worker.stream;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The replication stream as the receiver sees it; the tests have a scripted one. All methods are the receiver thread's, but for
 * {@link #abort}. After an exception only {@code abort} and {@code finish} may be called.
 */
interface WalSenderStream {

    /**
     * The next CopyData payload, owned by the caller.
     *
     * @param wait whether to wait for it; then null means that the server ended the copy
     */
    byte @Nullable [] read(boolean wait) throws SQLException;

    /** Whether a byte of the next message, or the end, has come in time. */
    boolean awaitReadable(Duration atMost) throws SQLException;

    /** From now on called at least every {@code period} while a read waits for the rest of a message. */
    void setWaiter(Waiter waiter, Duration period);

    /** Sends one CopyData payload at once. */
    void send(byte[] payload) throws SQLException;

    /** How many bytes have come over the wire. */
    long bytesReceived();

    /** The warnings that the server has sent in the stream since the last call, or null; whatever it sent before is read. */
    @Nullable
    SQLWarning takeWarnings() throws SQLException;

    /** The last bytes that came; after a lost connection perhaps the server's last words. */
    byte[] lastBytes();

    /** Says good-bye, gives the server a moment to read it, and closes. Never throws. */
    void finish(Duration linger);

    /** Cuts the connection. Any thread. Never throws. */
    void abort();

    /** What a read does while it waits. */
    @FunctionalInterface
    interface Waiter {
        /** @return false to give the read up, and with it the connection */
        boolean keepWaiting() throws SQLException;
    }
}
