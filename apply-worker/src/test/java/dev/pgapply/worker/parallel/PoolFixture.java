package dev.pgapply.worker.parallel;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.target.Target;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.apply.OpenRelations;
import dev.pgapply.worker.apply.ParallelApplyWorkers.Worker;
import dev.pgapply.worker.apply.RecordingSession;
import dev.pgapply.worker.apply.StreamedTransactionApplier;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A pool over sessions that write down what they are told; the leader's is one of them. */
final class PoolFixture implements AutoCloseable {

    final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    final List<RecordingSession> sessions = new ArrayList<>();
    final AppliedPositions positions = new AppliedPositions(new Lsn(0x100), stats);
    private final ApplySession leader;
    private final SpoolOnlyTransactions spoolOnly = new SpoolOnlyTransactions();
    private final ParallelApplyWorkerPool pool;
    private String ended = "";

    PoolFixture(int maxWorkers) {
        RecordingSession leaderSession = new RecordingSession();
        leader = ApplySession.start(
                "orders", "pgapply_7", leaderSession, positions, stats, () -> {}, new CopyPace(System::nanoTime));
        pool = ParallelApplyWorkerPool.open(
                new ParallelApplyWorkerPool.Options("orders", 7, maxWorkers, 1 << 20, Duration.ofMillis(50)),
                session -> new StreamedTransactionApplier(
                        7,
                        true,
                        "pgapply_7",
                        session,
                        new BatchLimits(100, 1 << 20),
                        new OpenRelations(new NoTables(), () -> 0, entry -> {}),
                        () -> new SubscribedTables(Map.of()),
                        stats),
                this::open,
                leader,
                spoolOnly,
                stats);
    }

    private TargetSession open(int number) {
        RecordingSession session = new RecordingSession();
        session.pid = 4711 + number;
        sessions.add(session);
        return session;
    }

    @Nullable
    Worker tryAssign(int xid) {
        return pool.assign(new Xid(xid));
    }

    Worker assign(int xid) {
        return Objects.requireNonNull(tryAssign(xid));
    }

    boolean commit(Worker worker, int xid, int end) {
        return worker.commit(
                new StreamCommit(new Xid(xid), new Lsn(end - 8), new Lsn(end), Instant.EPOCH), null, () -> false);
    }

    boolean prepare(Worker worker, int xid, int end) {
        return worker.prepare(
                new StreamPrepare(new Lsn(end - 8), new Lsn(end), Instant.EPOCH, new Xid(xid), "g"), null, () -> false);
    }

    int leaderPid() {
        return leader.backendPid();
    }

    int pidOf(int number) {
        return 4711 + number;
    }

    /** One look at these waits. */
    void watch(Map<Integer, Set<Integer>> waits) {
        new WaitCycleWatch(pool, leader::backendPid, () -> 0, () -> waits, e -> ended += e.getMessage()).attend();
    }

    String ended() {
        return ended;
    }

    boolean mustSpool(int xid) {
        return pool.mustSpool(new Xid(xid));
    }

    String failure() {
        try {
            pool.throwFailure();
            return "";
        } catch (ApplyException e) {
            return e.getMessage();
        }
    }

    @Override
    public void close() {
        pool.close();
        leader.close();
    }

    /** Nobody asks it. */
    private static final class NoTables implements Target {

        @Override
        public @Nullable TargetTable describe(QualifiedName name) {
            return null;
        }

        @Override
        public TargetSession openSession(String role) {
            throw new UnsupportedOperationException("sessions come from the fixture");
        }

        @Override
        public TargetSession openParallelSession(int applySession) {
            throw new UnsupportedOperationException("sessions come from the fixture");
        }
    }
}
