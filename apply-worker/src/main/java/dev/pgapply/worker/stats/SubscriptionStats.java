package dev.pgapply.worker.stats;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.core.transaction.TransApplyAction;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What one subscription shows of itself. It lives as long as the process, over all restarts of the worker. Any thread reads; each
 * position has one writing thread, named at its setter; counters are adders.
 */
public final class SubscriptionStats {

    private static final Logger log = LoggerFactory.getLogger(SubscriptionStats.class);

    private final String subscription;
    private final Clock clock;

    private volatile SubscriptionStatus status = SubscriptionStatus.STARTING;
    private volatile Instant statusSince;
    private volatile @Nullable String statusReason;
    private volatile @Nullable LastError lastError;

    private volatile boolean connected;
    private volatile Lsn receivedLsn = Lsn.ZERO;
    private volatile Lsn writeLsn = Lsn.ZERO;
    private volatile Lsn flushLsn = Lsn.ZERO;
    private volatile Lsn applyLsn = Lsn.ZERO;
    private volatile Lsn latestEndLsn = Lsn.ZERO;
    private volatile @Nullable Instant lastMessageSendTime;
    private volatile @Nullable Instant lastMessageReceiptTime;
    private volatile @Nullable Instant oldestPendingCommitTime;
    private volatile @Nullable Lsn publisherFlushLsn;
    private volatile @Nullable Lsn slotRestartLsn;
    private volatile @Nullable String slotWalStatus;
    private volatile @Nullable SlotStatistics slotStatistics;
    private volatile @Nullable OriginSnapshot origin;
    private volatile List<WorkerProgress> workers = List.of();
    private volatile int busyWorkers;
    private final ConcurrentMap<Integer, ParallelOrigin> parallelOrigins = new ConcurrentSkipListMap<>();
    private volatile CreationProgress creation = CreationProgress.NONE;

    private final ConcurrentMap<QualifiedName, TableProgress> tables = new ConcurrentHashMap<>();
    private final ConcurrentSkipListMap<String, SlotWaitState> slotWaits = new ConcurrentSkipListMap<>();
    private final ConcurrentMap<Xid, StreamProgress> streams = new ConcurrentHashMap<>();

    public final LongAdder transactions = new LongAdder();
    public final LongAdder inserts = new LongAdder();
    public final LongAdder updates = new LongAdder();
    public final LongAdder deletes = new LongAdder();
    public final LongAdder truncates = new LongAdder();
    public final LongAdder batches = new LongAdder();
    public final LongAdder batchRows = new LongAdder();
    public final LongAdder exactFallbacks = new LongAdder();
    public final LongAdder skippedTransactions = new LongAdder();
    /** Changes of tables that are published but not, or not yet, part of the subscription. */
    public final LongAdder skippedChanges = new LongAdder();

    /** Wait cycles between sessions of the subscription that were found and broken. */
    public final LongAdder waitCycles = new LongAdder();

    public final LongAdder applyErrors = new LongAdder();
    public final LongAdder syncTableErrors = new LongAdder();
    public final LongAdder retries = new LongAdder();
    private final Map<ConflictType, LongAdder> conflicts = new EnumMap<>(ConflictType.class);
    private final Map<TransApplyAction, LongAdder> streamActions = new EnumMap<>(TransApplyAction.class);

    public SubscriptionStats(String subscription, Clock clock) {
        this.subscription = subscription;
        this.clock = clock;
        this.statusSince = clock.instant();
        for (ConflictType type : ConflictType.values()) {
            conflicts.put(type, new LongAdder());
        }
        for (TransApplyAction action : TransApplyAction.values()) {
            streamActions.put(action, new LongAdder());
        }
    }

    /** @param sessions one for each apply session */
    public record OriginSnapshot(
            String originName,
            boolean nativeOrigin,
            Lsn remoteLsn,
            @Nullable Lsn localLsn,
            @Nullable Instant remoteCommitTime,
            List<Session> sessions) {

        OriginSnapshot with(Session session, @Nullable Instant commitTime) {
            List<Session> all = new ArrayList<>(sessions);
            all.add(session);
            boolean newer = session.remoteLsn().isAfter(remoteLsn);
            return new OriginSnapshot(
                    originName,
                    nativeOrigin,
                    newer ? session.remoteLsn() : remoteLsn,
                    newer ? session.localLsn() : localLsn,
                    newer ? commitTime : remoteCommitTime,
                    all);
        }

        public record Session(
                String session, Lsn remoteLsn, @Nullable Lsn localLsn) {}
    }

    public String subscription() {
        return subscription;
    }

    public SubscriptionStatus status() {
        return status;
    }

    /** Since when the status is what it is. */
    public Instant statusSince() {
        return statusSince;
    }

    /** How long the status has been what it is. */
    public Duration sinceStatus() {
        return Duration.between(statusSince, clock.instant());
    }

    /** Why the status is what it is, for people; null where the word says it all. */
    public @Nullable String statusReason() {
        return statusReason;
    }

    /**
     * The only way to another status; logs the step and its reason. Who is streaming has applied whatever failed before: the last error
     * is forgotten. Called by the subscription's supervising thread and its leader.
     */
    public synchronized void transition(SubscriptionStatus next, @Nullable String reason) {
        SubscriptionStatus previous = status;
        statusReason = reason;
        if (previous == next) {
            return;
        }
        status = next;
        statusSince = clock.instant();
        boolean news = isNews(next);
        if (next == SubscriptionStatus.STREAMING) {
            lastError = null;
        }
        if (news || log.isDebugEnabled()) {
            log.atLevel(news ? Level.INFO : Level.DEBUG)
                    .log(
                            "subscription \"{}\": {} -> {}{}",
                            subscription,
                            previous.label(),
                            next.label(),
                            reason == null ? "" : " (" + reason + ")");
        }
    }

    /** While the same error comes again and again, the steps between are none: a log of days would hold nothing else. */
    private boolean isNews(SubscriptionStatus next) {
        LastError error = lastError;
        boolean passing = next == SubscriptionStatus.STARTING
                || next == SubscriptionStatus.COPYING
                || next == SubscriptionStatus.CATCHING_UP
                || next == SubscriptionStatus.ERROR
                || next == SubscriptionStatus.RECONNECTING;
        return error == null || error.count() == 1 || !passing;
    }

    public @Nullable LastError lastError() {
        return lastError;
    }

    /** Set by the supervising thread; null again once the subscription streams. */
    public void setLastError(@Nullable LastError error) {
        lastError = error;
    }

    /** What a slot's creation is waiting for, where there are several one of them; null while none is under way. */
    public @Nullable SlotWaitState slotWait() {
        Map.Entry<String, SlotWaitState> first = slotWaits.firstEntry();
        return first == null ? null : first.getValue();
    }

    /**
     * Set by the thread that has the slot created.
     *
     * @param state null: it is created, or given up
     */
    public void setSlotWait(String slotName, @Nullable SlotWaitState state) {
        if (state == null) {
            slotWaits.remove(slotName);
        } else {
            slotWaits.put(slotName, state);
        }
    }

    public boolean isConnected() {
        return connected;
    }

    /** Whether the walsender connection stands. Set by the receiver. */
    public void setConnected(boolean now) {
        connected = now;
    }

    public Lsn receivedLsn() {
        return receivedLsn;
    }

    /** Set by the receiver: the newest position that any frame named. */
    public void setReceivedLsn(Lsn lsn) {
        receivedLsn = lsn;
    }

    public Lsn writeLsn() {
        return writeLsn;
    }

    public Lsn flushLsn() {
        return flushLsn;
    }

    public Lsn applyLsn() {
        return applyLsn;
    }

    /** Set by the receiver, to what it last sent to the publisher. */
    public void setFeedback(Lsn write, Lsn flush, Lsn apply) {
        writeLsn = write;
        flushLsn = flush;
        applyLsn = apply;
    }

    public Lsn latestEndLsn() {
        return latestEndLsn;
    }

    /** Set by the receiver: the walsender's last reported end of WAL. */
    public void setLatestEndLsn(Lsn lsn) {
        latestEndLsn = lsn;
    }

    public @Nullable Instant lastMessageSendTime() {
        return lastMessageSendTime;
    }

    public @Nullable Instant lastMessageReceiptTime() {
        return lastMessageReceiptTime;
    }

    /** Set by the receiver. */
    public void setLastMessage(Instant sendTime, Instant receiptTime) {
        lastMessageSendTime = sendTime;
        lastMessageReceiptTime = receiptTime;
    }

    public @Nullable Instant oldestPendingCommitTime() {
        return oldestPendingCommitTime;
    }

    /** Set by the apply session: the commit time of the oldest transaction received and not yet flushed, or null if there is none. */
    public void setOldestPendingCommitTime(@Nullable Instant time) {
        oldestPendingCommitTime = time;
    }

    public @Nullable Lsn publisherFlushLsn() {
        return publisherFlushLsn;
    }

    /** Set by the leader's clockwork every 10 s; null while disconnected. */
    public void setPublisherFlushLsn(@Nullable Lsn lsn) {
        publisherFlushLsn = lsn;
    }

    /** Set by the publisher's watch, as pg_replication_slots shows the subscription's slot. */
    public void setSlot(@Nullable Lsn restartLsn, @Nullable String walStatus) {
        slotRestartLsn = restartLsn;
        slotWalStatus = walStatus;
    }

    /** How many bytes of WAL the publisher keeps for the slot; null where it is not known. */
    public @Nullable Long slotRetainedBytes() {
        Lsn publisher = publisherFlushLsn;
        Lsn restart = slotRestartLsn;
        return publisher == null || restart == null ? null : Math.max(0, publisher.bytesSince(restart));
    }

    /** {@code reserved}, {@code extended}, {@code unreserved} or {@code lost}; null where it is not known. */
    public @Nullable String slotWalStatus() {
        return slotWalStatus;
    }

    /** What the publisher counts of the slot; null where it is not known. */
    public @Nullable SlotStatistics slotStatistics() {
        return slotStatistics;
    }

    /** Set by the publisher's watch. */
    public void setSlotStatistics(SlotStatistics statistics) {
        slotStatistics = statistics;
    }

    private record ParallelOrigin(
            OriginSnapshot.Session session, @Nullable Instant remoteCommitTime) {}

    /** All apply sessions' progress: the greatest counts, because commits are ordered. */
    public @Nullable OriginSnapshot origin() {
        OriginSnapshot all = origin;
        if (all == null) {
            return null;
        }
        for (ParallelOrigin parallel : parallelOrigins.values()) {
            all = all.with(parallel.session(), parallel.remoteCommitTime());
        }
        return all;
    }

    /** Set by a parallel apply worker at its start and after each of its commits. */
    public void setParallelOrigin(
            int applySession, OriginSnapshot.Session session, @Nullable Instant remoteCommitTime) {
        parallelOrigins.put(applySession, new ParallelOrigin(session, remoteCommitTime));
    }

    /** The workers that run now, the leader first. */
    public List<WorkerProgress> workers() {
        return workers;
    }

    /** Set by the leader; none while the subscription does not stream. */
    public void setWorkers(List<WorkerProgress> now) {
        workers = List.copyOf(now);
    }

    /** How many parallel apply workers have a transaction. */
    public int busyWorkers() {
        return busyWorkers;
    }

    /** Set by the leader. */
    public void setBusyWorkers(int count) {
        busyWorkers = count;
    }

    /** Set at start by the leader and after each commit by the apply session. */
    public void setOrigin(OriginSnapshot snapshot) {
        origin = snapshot;
    }

    /** How far behind the target is, in time: zero with nothing pending, null while disconnected. */
    public @Nullable Duration lag() {
        if (!connected) {
            return null;
        }
        Instant oldest = oldestPendingCommitTime;
        if (oldest == null) {
            return Duration.ZERO;
        }
        Duration lag = Duration.between(oldest, clock.instant());
        return lag.isNegative() ? Duration.ZERO : lag;
    }

    /** How many bytes of WAL the publisher has flushed beyond what is confirmed; null while disconnected. */
    public @Nullable Long lagBytes() {
        Lsn publisher = publisherFlushLsn;
        if (!connected || publisher == null) {
            return null;
        }
        return Math.max(0, publisher.bytesSince(flushLsn));
    }

    public LongAdder conflicts(ConflictType type) {
        LongAdder adder = conflicts.get(type);
        if (adder == null) {
            throw new IllegalStateException("no counter for " + type);
        }
        return adder;
    }

    /** How many streamed transactions began with that action. */
    public LongAdder streamActions(TransApplyAction action) {
        LongAdder adder = streamActions.get(action);
        if (adder == null) {
            throw new IllegalStateException("no counter for " + action);
        }
        return adder;
    }

    /** The streamed transactions in progress, by xid. */
    public List<StreamProgress> streams() {
        return streams.values().stream()
                .sorted(Comparator.comparing(
                        stream -> Integer.toUnsignedLong(stream.xid().value())))
                .toList();
    }

    /** Set by the leader. */
    public void setStream(StreamProgress progress) {
        streams.put(progress.xid(), progress);
    }

    /** Called by the leader: the transaction has ended. */
    public void removeStream(Xid xid) {
        streams.remove(xid);
    }

    /** Called by the leader: a new life begins, in which nothing is streamed yet. */
    public void clearStreams() {
        streams.clear();
        parallelOrigins.clear();
        workers = List.of();
        busyWorkers = 0;
    }

    public List<TableProgress> tables() {
        return tables.values().stream()
                .sorted(Comparator.comparing((TableProgress t) -> t.table().schema())
                        .thenComparing(t -> t.table().name()))
                .toList();
    }

    public void setTable(TableProgress progress) {
        tables.put(progress.table(), progress);
    }

    /** The table is not part of the subscription any more. */
    public void removeTable(QualifiedName table) {
        tables.remove(table);
    }

    public void clearTables() {
        tables.clear();
    }

    public CreationProgress creation() {
        return creation;
    }

    /** Told by the threads that create tables. */
    public synchronized void updateCreation(UnaryOperator<CreationProgress> next) {
        creation = next.apply(creation);
    }
}
