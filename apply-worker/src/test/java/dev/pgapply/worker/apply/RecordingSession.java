package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedTransaction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A target session that writes down what it is told, and fails where a test says so. */
public final class RecordingSession implements TargetSession {

    public final List<String> calls = new CopyOnWriteArrayList<>();
    public int pid = 4711;
    public final Deque<Object> planAnswers = new ArrayDeque<>();
    public Function<Change, ChangeOutcome> onChange = change -> ChangeOutcome.APPLIED;
    public volatile Lsn flushed = Lsn.ZERO;
    long walPosition = 1000;
    PreparedStanding standing = new PreparedStanding(null, false, false);

    @Override
    public void begin() {
        calls.add("begin");
    }

    /** Answers with the next of {@link #planAnswers}: an outcome, or an exception to throw; by default all rows were found. */
    @Override
    public SetOutcome execute(SetPlan plan) {
        calls.add("plan");
        Object answer = planAnswers.poll();
        if (answer instanceof ApplyException failure) {
            throw failure;
        }
        return answer instanceof SetOutcome outcome ? outcome : new SetOutcome(List.of(), false);
    }

    /** Told as its two steps. */
    @Override
    public CommittedPlan executeAndCommit(SetPlan plan, Progress progress) {
        SetOutcome outcome = execute(plan);
        return new CommittedPlan(outcome, outcome.needsExactReplay() ? null : commit(progress));
    }

    @Override
    public ChangeOutcome execute(Change change) {
        calls.add(change.kind().name().toLowerCase(java.util.Locale.ROOT));
        return onChange.apply(change);
    }

    @Override
    public void truncate(Truncation truncation) {
        calls.add("truncate");
    }

    @Override
    public void savepoint(String name) {
        calls.add(name.startsWith("pg_sp_") ? "savepoint " + name : "savepoint");
    }

    @Override
    public void rollbackTo(String name) {
        calls.add(name.startsWith("pg_sp_") ? "rollback to " + name : "rollback to");
    }

    @Override
    public LocalCommit commit(Progress progress) {
        calls.add("commit " + progress.remoteLsn());
        walPosition += 100;
        return new LocalCommit(new Lsn(walPosition), flushed);
    }

    @Override
    public void rollback() {
        calls.add("rollback");
    }

    @Override
    public void recordIdle(Lsn idleLsn) {
        calls.add("idle " + idleLsn);
        flushed = new Lsn(walPosition);
    }

    @Override
    public Lsn flushedLsn() {
        return flushed;
    }

    @Override
    public void noteCommit(LocalCommit local) {
        calls.add("note " + local.localLsn());
    }

    @Override
    public int backendPid() {
        return pid;
    }

    @Override
    public TwoPhaseSession twoPhase() {
        return new RecordingTwoPhase();
    }

    /** Writes down the steps of prepared transactions; what it knows of them is {@link #standing}. */
    private final class RecordingTwoPhase implements TwoPhaseSession {

        @Override
        public PreparedStanding standing(Xid xid) {
            return standing;
        }

        @Override
        public String gid(Xid xid) {
            return PreparedTransaction.gid(7, xid);
        }

        @Override
        public void recordIntent(PreparedTransaction transaction) {
            calls.add("intent " + transaction.xid());
        }

        @Override
        public void mayPrepare(Xid xid) {
            calls.add("may prepare " + xid);
        }

        @Override
        public void prepare(PreparedTransaction transaction) {
            calls.add("prepare " + transaction.xid());
        }

        @Override
        public void commitPrepared(Xid xid) {
            calls.add("commit prepared " + xid);
        }

        @Override
        public void rollbackPrepared(Xid xid) {
            calls.add("rollback prepared " + xid);
        }

        @Override
        public void forget(Xid xid) {
            calls.add("forget " + xid);
        }
    }

    @Override
    public void abort() {}

    @Override
    public void close() {
        calls.add("close");
    }
}
