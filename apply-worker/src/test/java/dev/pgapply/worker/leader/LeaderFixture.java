package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.Target;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplyDispatcher;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.OpenRelations;
import dev.pgapply.worker.apply.ParallelApplyWorkers;
import dev.pgapply.worker.apply.PreparedTransactions;
import dev.pgapply.worker.apply.RecordingSession;
import dev.pgapply.worker.apply.StreamedChanges;
import dev.pgapply.worker.apply.TableHolds;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.FakeTicker;
import dev.pgapply.worker.stream.Keepalive;
import dev.pgapply.worker.stream.ReceiveQueue;
import dev.pgapply.worker.stream.XLogData;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A leader apply worker between a queue that the test fills and a target session that writes down what it is told. */
final class LeaderFixture implements AutoCloseable {

    static final int USERS = 16_385;
    static final int ORPHANS = 16_386;
    static final Lsn START = Lsn.parse("0/100");
    static final Duration STATUS_INTERVAL = Duration.ofSeconds(10);

    private static final QualifiedName NAME = new QualifiedName("public", "users");

    final RecordingSession target = new RecordingSession();
    final FakeTicker ticker = new FakeTicker();
    final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    final AppliedPositions positions = new AppliedPositions(START, stats);
    private final ReceiveQueue queue = new ReceiveQueue(1 << 20);
    private final ApplySession session = ApplySession.start(
            "orders", "pgapply_7", target, positions, stats, () -> {}, new CopyPace(System::nanoTime));
    final TableHolds holds;
    private final LeaderApplyWorker leader;
    private final Thread thread = new Thread(this::lead, "leader-apply/orders");
    private volatile @Nullable ApplyException failure;

    LeaderFixture(Path spool) {
        OpenRelations relations = new OpenRelations(new OneTable(), ticker, entry -> {});
        SubscribedTables tables =
                new SubscribedTables(Map.of(NAME, new SubscribedTables.Entry(TableSyncState.READY, null)));
        BatchBuilder batch = new BatchBuilder(new BatchLimits(1000, 1 << 20));
        SpoolDirectory files = SpoolDirectory.open(spool, 7, 0);
        holds = new TableHolds(tables, files);
        ApplyDispatcher dispatcher = new ApplyDispatcher(
                "pgapply_7",
                batch,
                relations,
                holds,
                new StreamedChanges(
                        StreamingMode.OFF, files, ParallelApplyWorkers.NONE, holds, relations, positions, stats),
                new PreparedTransactions(false, batch, session, START, stats),
                positions,
                stats,
                session::submit);
        IdleProgress idle = new IdleProgress(positions, session, ticker, STATUS_INTERVAL, false);
        leader = new LeaderApplyWorker(queue, dispatcher, holds, session, positions, idle, stats, ticker, START);
        stats.transition(SubscriptionStatus.CATCHING_UP, null);
    }

    LeaderFixture start() {
        thread.start();
        return this;
    }

    private void lead() {
        try {
            leader.run();
        } catch (ApplyException e) {
            failure = e;
        }
    }

    void receives(byte[]... messages) throws InterruptedException {
        for (byte[] message : messages) {
            queue.put(List.of(new XLogData(START, START, 0, message, 0, message.length)), 0, Duration.ofSeconds(5));
        }
    }

    void receivesKeepalive(String lsn, boolean replyRequested) throws InterruptedException {
        queue.put(List.of(new Keepalive(Lsn.parse(lsn), 0, replyRequested)), 0, Duration.ofSeconds(5));
    }

    void fail(ApplyException found) {
        leader.fail(found);
    }

    /** Stops it in order and waits for its end. */
    void stop() throws InterruptedException {
        leader.stop();
        awaitEnd();
    }

    @Nullable
    ApplyException awaitEnd() throws InterruptedException {
        thread.join(10_000);
        if (thread.isAlive()) {
            throw new IllegalStateException("the leader has not ended");
        }
        return failure;
    }

    List<String> commits() {
        return target.calls.stream().filter(call -> call.startsWith("commit")).toList();
    }

    List<String> idles() {
        return target.calls.stream().filter(call -> call.startsWith("idle")).toList();
    }

    @Override
    public void close() throws InterruptedException {
        leader.stop();
        session.close();
        thread.join(10_000);
    }

    /** Has {@code public.users}, and nothing else. */
    private static final class OneTable implements Target {

        @Override
        public @Nullable TargetTable describe(QualifiedName name) {
            if (!name.equals(NAME)) {
                return null;
            }
            TargetColumn id = new TargetColumn(
                    "id", new Oid(25), "text", -1, true, false, false, TargetColumn.IdentityKind.NONE, true, false);
            return new TargetTable(
                    NAME,
                    TargetTable.Kind.PLAIN,
                    List.of(id),
                    List.of("id"),
                    List.of(),
                    false,
                    TargetTable.Triggers.NONE);
        }

        @Override
        public TargetSession openSession(String role) {
            throw new UnsupportedOperationException("the fixture opens its own session");
        }

        @Override
        public TargetSession openParallelSession(int applySession) {
            throw new UnsupportedOperationException("no worker is started");
        }
    }
}
