package dev.pgapply.worker.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A socket that can be waited on between the driver's reads. pgjdbc has no such wait: its blocking read cannot be given a timeout (one
 * in the middle of a message loses the protocol's state), and its non-blocking read sleeps a millisecond whenever nothing is there.
 *
 * <p>Bytes come from the kernel in long gulps into a buffer of this socket's own, so {@link #awaitReadable} never loses one, and the
 * driver reads from the buffer. A read for which the buffer is not enough calls the {@link Waiter} again and again, so that its owner
 * can go on answering the server while half a message has come. Under TLS this is the raw socket beneath the SSLSocket: readable then means
 * that a record is arriving.
 *
 * <p>Read by one thread only; {@link #abort} may come from any.
 */
// One thread reads and sets timeouts; a lock would make abort() wait for a close that lingers.
@SuppressWarnings("UnsynchronizedOverridesSynchronized")
public final class PatientSocket extends Socket {

    private static final int BUFFER_BYTES = 256 * 1024;

    /** PGStream.hasMessagePending looks for a byte with this timeout; here the answer needs no wait. */
    private static final int PEEK_MILLIS = 1;

    private static final int LINGER_STEP_MILLIS = 10;

    /** What a reader does while it waits for the rest of a message; on the reader's thread. */
    @FunctionalInterface
    public interface Waiter {
        /** @throws IOException to give the read up, and with it the connection */
        void stillWaiting() throws IOException;
    }

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;
    private boolean endOfStream;
    private long bytesReceived;

    private @Nullable InputStream raw;
    private final InputStream buffered = new BufferedInput();

    /** What the driver asked for; the raw socket's own timeout changes with each wait. */
    private int timeoutMillis;

    private int rawTimeoutMillis;
    private boolean peeking;
    private @Nullable Waiter waiter;
    private int waiterMillis;
    private int lingerMillis;

    /** From then on each read that waits calls {@code each} after every gulp and in every silent {@code period}. */
    public void setWaiter(Waiter each, Duration period) {
        this.waiter = each;
        this.waiterMillis = millis(period);
    }

    /** From now on {@link #close} first reads and drops what still comes, until the peer closes, so that it sees what was written last. */
    public void lingerOnClose(Duration atMost) {
        lingerMillis = millis(atMost);
    }

    /**
     * Waits until a byte can be read from this socket or the peer has closed it.
     *
     * @return false if neither came in time
     */
    public boolean awaitReadable(Duration atMost) throws IOException {
        if (position < limit || endOfStream) {
            return true;
        }
        setRawTimeout(millis(atMost));
        try {
            gulp();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /** How many bytes have come since the socket was opened. The reading thread only. */
    public long bytesReceived() {
        return bytesReceived;
    }

    /** The newest bytes that came; after the end of the stream the peer's last words. Encrypted under TLS. */
    public byte[] lastGulp() {
        return Arrays.copyOf(buffer, limit);
    }

    /** Closes at once, whatever another thread is doing with it. */
    public void abort() throws IOException {
        super.close();
    }

    @Override
    public void connect(SocketAddress endpoint, int connectTimeoutMillis) throws IOException {
        super.connect(endpoint, connectTimeoutMillis);
        PatientSocketFactory.keepAlive(this);
    }

    @Override
    public InputStream getInputStream() throws IOException {
        if (raw == null) {
            raw = super.getInputStream();
        }
        return buffered;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        timeoutMillis = millis;
        peeking = millis == PEEK_MILLIS;
    }

    @Override
    public int getSoTimeout() {
        return timeoutMillis;
    }

    @Override
    public void close() throws IOException {
        if (lingerMillis > 0 && !isClosed() && raw != null) {
            try {
                linger(raw);
            } catch (IOException e) {
                // The peer is gone already: nobody is left to read our last words.
            }
        }
        super.close();
    }

    /** Both a silence and a gulp cost patience: a walsender in the middle of a large transaction may send on for long. */
    private void linger(InputStream from) throws IOException {
        shutdownOutput();
        setRawTimeout(LINGER_STEP_MILLIS);
        for (int left = lingerMillis; left > 0; left -= LINGER_STEP_MILLIS) {
            try {
                if (from.read(buffer) < 0) {
                    return;
                }
            } catch (SocketTimeoutException e) {
                // Nothing came in this step.
            }
        }
    }

    private void gulp() throws IOException {
        InputStream from = raw;
        if (from == null) {
            throw new SocketException("socket is not connected");
        }
        int count = from.read(buffer, 0, buffer.length);
        if (count < 0) {
            endOfStream = true;
            return;
        }
        position = 0;
        limit = count;
        bytesReceived += count;
    }

    /** Fills the empty buffer, for as long as the driver's timeout allows. */
    private void fill() throws IOException {
        if (endOfStream) {
            return;
        }
        // Once bytes of this peek have been handed out, a TLS record may be half read: then there is no way back.
        if (peeking && raw != null && raw.available() == 0) {
            throw new NothingYet();
        }
        int waited = 0;
        while (true) {
            int slice = nextWait(waited);
            setRawTimeout(slice);
            boolean came = true;
            try {
                gulp();
            } catch (SocketTimeoutException e) {
                waited += slice;
                if (timeoutMillis > 0 && !inRecord() && waited >= timeoutMillis) {
                    throw e;
                }
                came = false;
            }
            if (waiter != null) {
                // Also after each gulp: a large message may trickle in for minutes and never leave a gap.
                waiter.stillWaiting();
            }
            if (came) {
                return;
            }
        }
    }

    /** A peek that has found something reads on without a timeout. */
    private boolean inRecord() {
        return timeoutMillis == PEEK_MILLIS && !peeking;
    }

    private int nextWait(int waited) {
        int left = timeoutMillis == 0 || inRecord() ? 0 : Math.max(1, timeoutMillis - waited);
        if (waiter == null) {
            return left;
        }
        return left == 0 ? waiterMillis : Math.min(left, waiterMillis);
    }

    private void setRawTimeout(int millis) throws SocketException {
        if (millis != rawTimeoutMillis) {
            super.setSoTimeout(millis);
            rawTimeoutMillis = millis;
        }
    }

    private static int millis(Duration duration) {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, duration.toMillis()));
    }

    /** What the driver reads from. */
    private final class BufferedInput extends InputStream {

        private final byte[] one = new byte[1];

        @Override
        public int read() throws IOException {
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (position == limit) {
                fill();
                if (position == limit) {
                    return -1;
                }
            }
            int count = Math.min(length, limit - position);
            System.arraycopy(buffer, position, target, offset, count);
            position += count;
            peeking = false;
            return count;
        }

        @Override
        public int available() throws IOException {
            if (position < limit) {
                return limit - position;
            }
            return raw == null || endOfStream ? 0 : raw.available();
        }

        @Override
        public void close() throws IOException {
            PatientSocket.this.close();
        }
    }

    /** The answer to a peek, many times a second: without a stack trace. */
    private static final class NothingYet extends SocketTimeoutException {
        private static final long serialVersionUID = 1L;

        NothingYet() {
            super("nothing to read yet");
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
