package dev.pgapply.worker.stream;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the walsender's stream into a {@link ReceiveQueue} and sends feedback. Its thread {@code receiver/<sub>} alone uses the
 * connection and never waits for the target: with a full queue it stops reading, which is the back-pressure, but goes on sending
 * (DESIGN 3.4; worker.c, LogicalRepApplyLoop and send_feedback).
 *
 * <p>The positions it sends come from a supplier, read whenever it wakes. Its end, for whatever reason but {@link #close}, is the
 * queue's failure.
 */
public final class Receiver implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Receiver.class);

    /** The longest sleep: within it a moved position is noticed. Shorter ones are a good part of what an idle engine costs. */
    private static final Duration IDLE_TICK = Duration.ofMillis(250);

    /** While an answer of the apply side may come any moment: a synchronous commit on the publisher may be waiting for it. */
    private static final Duration BUSY_TICK = Duration.ofMillis(5);

    /** A walsender that has caught up says so with each piece of WAL that is not ours: only what may have somebody wait keeps us awake. */
    private static final Duration BUSY_AFTER_QUESTION = Duration.ofSeconds(1);

    /** For the server to read the last positions. */
    private static final Duration FAREWELL = Duration.ofMillis(500);

    private static final Duration CLOSE_WAIT = Duration.ofSeconds(2);

    private final ReceiverOptions options;
    private final WalSenderStream stream;
    private final ReceiveQueue queue;
    private final SubscriptionStats stats;
    private final Ticker ticker;
    private final Clock clock;
    private final Feedback feedback;
    private final ReceiveTimeout timeout;
    private final Gulp gulp;
    private final SendLag sendLag = new SendLag();
    private final Thread thread;

    private final FrameBatch batch = new FrameBatch();
    private long bytesSeen;
    private boolean questioned;
    private long questionedAt;
    private Lsn receivedLsn = Lsn.ZERO;
    private @Nullable String newestWarning;
    private @Nullable ApplyException timedOut;
    private volatile boolean closing;
    private volatile boolean gathering;
    private volatile boolean decodingFailed;

    // More than six: the parts are the seams at which the tests stand.
    Receiver(
            ReceiverOptions options,
            WalSenderStream stream,
            Duration walSenderTimeout,
            Supplier<FeedbackPositions> positions,
            ReceiveQueue queue,
            SubscriptionStats stats,
            Ticker ticker,
            Clock clock) {
        this.options = options;
        this.stream = stream;
        this.queue = queue;
        this.stats = stats;
        this.ticker = ticker;
        this.clock = clock;
        long now = ticker.nanos();
        StatusSchedule schedule = new StatusSchedule(options.statusInterval(), walSenderTimeout, now);
        this.feedback = new Feedback(stream, positions, schedule, stats, ticker, clock);
        this.timeout = new ReceiveTimeout(options.receiveTimeout(), now);
        this.gulp = new Gulp(options.gulp(), now);
        this.questionedAt = now;
        this.thread = new Thread(this::run, "receiver/" + options.subscription());
        this.thread.setDaemon(true);
    }

    /**
     * Connects, starts the replication and starts the thread. When this returns, the publisher streams.
     *
     * @param positions what may be reported; read on the receiver's thread, so a volatile read
     * @throws ApplyException if the publisher cannot be reached or refuses
     */
    public static Receiver start(
            PostgresConnections publisher,
            ReceiverOptions options,
            Supplier<FeedbackPositions> positions,
            ReceiveQueue queue,
            SubscriptionStats stats,
            Ticker ticker,
            Clock clock) {
        CopyDualStream stream = CopyDualStream.start(publisher, options);
        Receiver receiver =
                new Receiver(options, stream, stream.walSenderTimeout(), positions, queue, stats, ticker, clock);
        receiver.startThread();
        return receiver;
    }

    void startThread() {
        stats.setConnected(true);
        thread.start();
    }

    /** Positions have moved. They are sent within 250 ms, whether or not this is called; it saves a busy stream's pause. Any thread. */
    public void nudge() {
        if (!gathering) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Sends the last positions, as far as the publisher lets it, and closes the connection. Returns within a few seconds even if the
     * publisher is dead. Any thread but the receiver's own.
     */
    @Override
    public void close() {
        closing = true;
        queue.close();
        nudge();
        try {
            if (!join(CLOSE_WAIT)) {
                stream.abort();
                join(CLOSE_WAIT);
            }
        } catch (InterruptedException e) {
            stream.abort();
            Thread.currentThread().interrupt();
        }
    }

    /** Whether the walsender has ended the stream because it could not decode something. Any thread. */
    public boolean isDecodingFailed() {
        return decodingFailed;
    }

    private boolean join(Duration atMost) throws InterruptedException {
        TimeUnit.MILLISECONDS.timedJoin(thread, atMost.toMillis());
        return !thread.isAlive();
    }

    private void run() {
        ApplyException failure = null;
        try {
            receive();
            feedback.send(false);
        } catch (ApplyException e) {
            failure = e;
        } catch (SQLException e) {
            failure =
                    timedOut != null ? timedOut : ReplicationErrors.inStream(options.slotName(), e, stream.lastBytes());
            decodingFailed = ReplicationErrors.isOfDecoding(failure);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = new ApplyException(Kind.INTERNAL, "the receiver's thread was interrupted", e);
        } catch (RuntimeException | OutOfMemoryError e) {
            // One message may be larger than the heap; the leader must hear of it.
            failure = new ApplyException(Kind.INTERNAL, "the receiver failed: " + e, e);
        }
        // First of all, so that the slot is free again.
        stats.setConnected(false);
        stream.finish(FAREWELL);
        if (failure != null) {
            fail(failure);
        }
    }

    /** The leader gets what came before the error first. */
    private void fail(ApplyException error) {
        try {
            while (!batch.isEmpty() && !queue.isClosed()) {
                batch.putInto(queue, IDLE_TICK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        queue.fail(error);
    }

    private void receive() throws SQLException, InterruptedException {
        stream.setWaiter(this::waitForRest, feedback.longestSleep(IDLE_TICK));
        while (!closing) {
            byte[] payload = stream.read(false);
            heedWarnings();
            if (payload == null) {
                handOver();
                if (!awaitMore()) {
                    return;
                }
                payload = stream.read(true);
                heedWarnings();
                if (payload == null) {
                    throw ReplicationErrors.ended();
                }
            }
            collect(FrameDecoder.decode(payload));
        }
    }

    /** Sleeps until something comes; false if the receiver closes. */
    private boolean awaitMore() throws SQLException {
        keepTime();
        letGather();
        while (!closing && !stream.awaitReadable(tick())) {
            checkSilence();
            keepTime();
        }
        return !closing;
    }

    private void collect(Frame frame) throws SQLException, InterruptedException {
        batch.add(frame);
        if (frame instanceof XLogData data) {
            sendLag.sent(data);
            questioned = true;
        } else if (frame instanceof Keepalive keepalive && keepalive.replyRequested()) {
            // At once, with the positions of now, lest the walsender gives us up; the leader moves them when it gets
            // there.
            feedback.send(false);
            questioned = true;
        }
        if (batch.isFull()) {
            handOver();
            keepTime();
        }
    }

    /** Gives the batch to the leader. With a full queue this waits, and the status goes out all the same. */
    private void handOver() throws SQLException, InterruptedException {
        if (batch.isEmpty()) {
            return;
        }
        if (questioned) {
            questionedAt = ticker.nanos();
            questioned = false;
        }
        showReceived();
        while (!closing) {
            boolean put = batch.putInto(queue, tick());
            if (batch.isEmpty()) {
                return;
            }
            if (!put && queue.isClosed()) {
                closing = true;
            }
            // Whoever does not read cannot say that the publisher is silent.
            timeout.restart(ticker.nanos());
            feedback.sendIfDue();
        }
    }

    private void showReceived() {
        receivedLsn = receivedLsn.max(batch.greatestLsn());
        stats.setReceivedLsn(receivedLsn);
        stats.setLatestEndLsn(receivedLsn);
        stats.setLastMessage(FrameDecoder.toInstant(batch.newest().sendTimeMicros()), clock.instant());
    }

    private void keepTime() throws SQLException {
        long now = ticker.nanos();
        long bytes = stream.bytesReceived();
        if (bytes != bytesSeen) {
            bytesSeen = bytes;
            timeout.restart(now);
        }
        feedback.sendIfDue();
    }

    /** Only after a wait in which nothing came: the engine itself may have slept with the bytes at its door. */
    private void checkSilence() throws SQLException {
        long now = ticker.nanos();
        if (timeout.isOver(now)) {
            timedOut = new ApplyException(Kind.CONNECTION, "terminating logical replication worker due to timeout");
            throw timedOut;
        }
        if (timeout.shallAsk(now)) {
            feedback.send(true);
        }
    }

    /** Called while half a message has come: what is complete goes on to the leader, the status to the publisher. */
    private boolean waitForRest() throws SQLException {
        if (closing) {
            feedback.send(false);
            return false;
        }
        try {
            if (!batch.isEmpty()) {
                batch.putInto(queue, Duration.ZERO);
            }
            keepTime();
            checkSilence();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ApplyException e) {
            return false;
        }
    }

    private void letGather() {
        Duration length = gulp.length(bytesSeen, sendLag.lag(), ticker.nanos());
        if (!length.isZero()) {
            // Each commit nudges; it would cut short what is only worth its length.
            gathering = true;
            LockSupport.parkNanos(this, length.toNanos());
            gathering = false;
        }
    }

    private Duration tick() {
        boolean busy = ticker.nanos() - questionedAt < BUSY_AFTER_QUESTION.toNanos();
        return feedback.longestSleep(busy ? BUSY_TICK : IDLE_TICK);
    }

    /** Before anything that came behind a warning goes on to the leader, and with it the slot. */
    private void heedWarnings() throws SQLException {
        for (SQLWarning warning = stream.takeWarnings(); warning != null; warning = warning.getNextWarning()) {
            ReplicationErrors.refuseSkippedPublication(options.slotName(), warning);
            String text = String.valueOf(warning.getMessage());
            if (!text.equals(newestWarning)) {
                newestWarning = text;
                log.warn("subscription \"{}\": the publisher warns: {}", options.subscription(), text);
            }
        }
    }
}
