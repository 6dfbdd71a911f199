package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedStanding.OnCommit;
import dev.pgapply.core.transaction.PreparedStanding.OnPrepare;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares transactions on a target session and ends them (worker.c, apply_handle_prepare, _commit_prepared, _rollback_prepared). Each
 * message is judged by what the target says of the transaction, so that one which comes again after a crash does nothing twice. Owned
 * by the apply session's thread.
 *
 * <pre>
 *   PREPARE             intent committed → changes and the "finished" row → PREPARE TRANSACTION → progress
 *   COMMIT PREPARED     COMMIT PREPARED → progress, and the rows removed with it
 *   ROLLBACK PREPARED   ROLLBACK PREPARED → progress, and the rows removed with it
 * </pre>
 *
 * Wherever this breaks off, the publisher sends again what has no progress.
 */
final class PreparedApplier {

    private static final Logger log = LoggerFactory.getLogger(PreparedApplier.class);

    private final TargetSession session;
    private final TransactionApplier applier;
    private final Supplier<Lsn> appliedLsn;
    private final SubscriptionStats stats;
    private final ApplyErrorContext context;
    private final TransactionApplier.CommitListener listener;

    /** The transaction whose changes are coming. */
    private @Nullable PreparedTransaction open;

    /** Whether its changes are to be executed, and not there already. */
    private boolean executing;

    /** @param appliedLsn up to where the target's progress is recorded; it never goes back */
    PreparedApplier(
            TargetSession session,
            TransactionApplier applier,
            Supplier<Lsn> appliedLsn,
            SubscriptionStats stats,
            ApplyErrorContext context,
            TransactionApplier.CommitListener listener) {
        this.session = session;
        this.applier = applier;
        this.appliedLsn = appliedLsn;
        this.stats = stats;
        this.context = context;
        this.listener = listener;
    }

    /** Whether the batches that come belong to a transaction that is being prepared. */
    boolean isOpen() {
        return open != null;
    }

    void begin(PreparedTransaction transaction) {
        Xid xid = transaction.xid();
        processing(MessageType.BEGIN_PREPARE, xid, null, () -> {
            TwoPhaseSession twoPhase = session.twoPhase();
            executing = judge(twoPhase, transaction);
            if (executing) {
                twoPhase.recordIntent(transaction);
                twoPhase.mayPrepare(xid);
            }
            open = transaction;
        });
    }

    private static boolean judge(TwoPhaseSession twoPhase, PreparedTransaction transaction) {
        Xid xid = transaction.xid();
        boolean execute = twoPhase.standing(xid).onPrepare(transaction, twoPhase.gid(xid)) == OnPrepare.EXECUTE;
        if (!execute) {
            log.debug("transaction {} is on the target as \"{}\" already", xid, twoPhase.gid(xid));
        }
        return execute;
    }

    /**
     * STREAM PREPARE of what a parallel apply worker has executed: the intent is committed here, since the worker's own transaction is
     * the one to be prepared.
     *
     * @return whether the worker shall prepare it; false: it was done in an earlier life
     */
    boolean beginInWorker(PreparedTransaction transaction) {
        boolean[] execute = new boolean[1];
        processing(MessageType.STREAM_PREPARE, transaction.xid(), null, () -> {
            TwoPhaseSession twoPhase = session.twoPhase();
            execute[0] = judge(twoPhase, transaction);
            if (execute[0]) {
                twoPhase.recordIntent(transaction);
            }
        });
        return execute[0];
    }

    /** The worker has prepared it, or it was prepared before. */
    void endInWorker(PreparedTransaction transaction) {
        processing(
                MessageType.STREAM_PREPARE,
                transaction.xid(),
                null,
                () -> recordPrepared(transaction.prepareEndLsn(), transaction.prepareTime()));
    }

    /** Executes a part of the open transaction; with the last one it is prepared. */
    void apply(ChangeBatch batch) {
        PreparedTransaction transaction = open;
        if (transaction == null) {
            throw new IllegalStateException("no transaction is being prepared");
        }
        TransactionSlice slice = batch.firstSlice();
        if (executing) {
            applier.applyPrepared(slice, batch.plan(), transaction);
        }
        TransactionSlice.End end = slice.end();
        if (end == null) {
            return;
        }
        open = null;
        processing(
                MessageType.PREPARE,
                slice.xid(),
                slice.finalLsn(),
                () -> recordPrepared(end.endLsn(), end.commitTime()));
    }

    /** One that was sent only now, with its COMMIT PREPARED, lies behind the progress. */
    private void recordPrepared(Lsn endLsn, Instant time) {
        if (endLsn.isAfter(appliedLsn.get())) {
            session.begin();
            commitProgress(endLsn, time);
        }
    }

    void commitPrepared(CommitPrepared message) {
        Xid xid = message.xid();
        processing(MessageType.COMMIT_PREPARED, xid, message.commitLsn(), () -> {
            TwoPhaseSession twoPhase = session.twoPhase();
            if (twoPhase.standing(xid).onCommit(xid, twoPhase.gid(xid)) == OnCommit.COMMIT) {
                twoPhase.commitPrepared(xid);
            }
            forget(twoPhase, xid, message.endLsn(), message.commitTime());
            stats.transactions.increment();
        });
    }

    void rollbackPrepared(RollbackPrepared message) {
        Xid xid = message.xid();
        PreparedTransaction transaction = new PreparedTransaction(xid, message.prepareEndLsn(), message.prepareTime());
        processing(MessageType.ROLLBACK_PREPARED, xid, message.rollbackEndLsn(), () -> {
            TwoPhaseSession twoPhase = session.twoPhase();
            PreparedStanding standing = twoPhase.standing(xid);
            switch (standing.onRollback(transaction, twoPhase.gid(xid))) {
                case ROLL_BACK -> {
                    twoPhase.rollbackPrepared(xid);
                    forget(twoPhase, xid, message.rollbackEndLsn(), message.rollbackTime());
                }
                case ALREADY_DONE -> forget(twoPhase, xid, message.rollbackEndLsn(), message.rollbackTime());
                case IGNORE -> {
                    log.debug("transaction {} was never prepared here, its rollback means nothing", xid);
                    session.begin();
                    commitProgress(message.rollbackEndLsn(), message.rollbackTime());
                }
            }
        });
    }

    private void forget(TwoPhaseSession twoPhase, Xid xid, Lsn endLsn, Instant time) {
        session.begin();
        twoPhase.forget(xid);
        commitProgress(endLsn, time);
    }

    private void commitProgress(Lsn endLsn, Instant time) {
        listener.committed(endLsn, time, session.commit(new Progress(endLsn, time)));
    }

    private void processing(MessageType type, Xid xid, @Nullable Lsn finishLsn, Runnable work) {
        context.transaction(xid, finishLsn);
        context.message(type, null);
        try {
            work.run();
        } catch (ApplyException e) {
            throw context.addTo(e);
        }
        context.clear();
    }
}
