package dev.pgapply.worker.stream;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A walsender that the test plays: what it sends is read, what the receiver sends is kept. */
final class ScriptedStream implements WalSenderStream {

    /** One thing that comes over the wire. */
    private record Event(
            byte @Nullable [] payload,
            @Nullable SQLException error,
            @Nullable SQLWarning warning,
            boolean half) {}

    private final LinkedBlockingDeque<Event> events = new LinkedBlockingDeque<>();
    private final List<Frames.Status> statuses = new CopyOnWriteArrayList<>();
    private final List<Duration> sleeps = new CopyOnWriteArrayList<>();
    private @Nullable Waiter waiter;
    private @Nullable SQLWarning warning;
    private volatile int payloadsRead;
    private volatile boolean finished;
    private volatile boolean aborted;
    private volatile long bytesReceived;

    /** How long at most each wait was to be, in order. */
    List<Duration> sleeps() {
        return sleeps;
    }

    void sends(byte[] payload) {
        events.add(new Event(payload, null, null, false));
    }

    /** The beginning of a message whose rest does not come. */
    void sendsHalfAMessage() {
        events.add(new Event(null, null, null, true));
    }

    void endsTheCopy() {
        events.add(new Event(null, null, null, false));
    }

    void fails(SQLException error) {
        events.add(new Event(null, error, null, false));
    }

    /** A warning, and behind it a payload. */
    void sends(SQLWarning notice, byte[] payload) {
        events.add(new Event(payload, null, notice, false));
    }

    List<Frames.Status> statuses() {
        return statuses;
    }

    int payloadsRead() {
        return payloadsRead;
    }

    boolean isFinished() {
        return finished;
    }

    boolean isAborted() {
        return aborted;
    }

    @Override
    public byte @Nullable [] read(boolean wait) throws SQLException {
        Event event = events.peek();
        if (event == null || (!wait && event.payload() == null && event.error() == null)) {
            return null;
        }
        if (event.half()) {
            waitForRest();
        }
        events.remove();
        warning = event.warning();
        if (event.error() != null) {
            throw event.error();
        }
        if (event.payload() != null) {
            payloadsRead = payloadsRead() + 1;
            bytesReceived = bytesReceived() + event.payload().length;
        }
        return event.payload();
    }

    private void waitForRest() throws SQLException {
        Waiter current = waiter;
        if (current == null) {
            throw new IllegalStateException("no waiter");
        }
        while (current.keepWaiting()) {
            Thread.onSpinWait();
        }
        throw new SQLException("given up in the middle of a message", "08006");
    }

    @Override
    public boolean awaitReadable(Duration atMost) throws SQLException {
        sleeps.add(atMost);
        try {
            Event event = events.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
            if (event != null) {
                events.addFirst(event);
            }
            return event != null;
        } catch (InterruptedException e) {
            throw new SQLException(e);
        }
    }

    @Override
    public void setWaiter(Waiter newWaiter, Duration period) {
        waiter = newWaiter;
    }

    @Override
    public void send(byte[] payload) {
        statuses.add(Frames.Status.of(payload));
    }

    @Override
    public long bytesReceived() {
        return bytesReceived;
    }

    @Override
    public @Nullable SQLWarning takeWarnings() {
        SQLWarning taken = warning;
        warning = null;
        return taken;
    }

    @Override
    public byte[] lastBytes() {
        return new byte[0];
    }

    @Override
    public void finish(Duration linger) {
        finished = true;
    }

    @Override
    public void abort() {
        aborted = true;
    }
}
