package dev.pgapply.worker.origin;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.worker.jdbc.SessionCommit;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.sql.SQLException;

/** Shows the progress of each commit in the subscription's statistics. Owned by the apply session's thread. */
public final class ReportedCommit implements SessionCommit {

    private final ProgressCommit commit;
    private final SubscriptionStats stats;

    public ReportedCommit(ProgressCommit commit, SubscriptionStats stats) {
        this.commit = commit;
        this.stats = stats;
        commit.show(stats);
    }

    @Override
    public void addRecord(Progress progress) throws SQLException {
        commit.addRecord(progress);
    }

    @Override
    public void addCommit(Progress progress) throws SQLException {
        commit.addCommit(progress);
    }

    @Override
    public LocalCommit committed(Progress progress) {
        LocalCommit local = commit.committed(progress);
        commit.show(stats);
        return local;
    }

    @Override
    public ApplyException refused(SQLException e) {
        return commit.refused(e);
    }

    @Override
    public ApplyException unknown(SQLException e) {
        return commit.unknown(e);
    }

    @Override
    public void rollback() {
        commit.rollback();
    }

    @Override
    public void recordIdle(Lsn idleLsn) {
        commit.recordIdle(idleLsn);
        commit.show(stats);
    }

    @Override
    public void noteCommit(LocalCommit local) {
        commit.noteCommit(local);
    }

    @Override
    public TwoPhaseSession twoPhase() {
        return commit.twoPhase();
    }

    @Override
    public Lsn flushedLsn() {
        return commit.flushedLsn();
    }
}
