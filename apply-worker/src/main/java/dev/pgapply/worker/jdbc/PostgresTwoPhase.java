package dev.pgapply.worker.jdbc;

import dev.pgapply.core.Xid;
import dev.pgapply.core.target.TwoPhaseSession;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedTransaction;
import java.util.List;
import java.util.function.Consumer;

/**
 * The prepared transactions of a session, told of what it has collected and not sent, and of the tables that it has made. Owned by the
 * session's thread.
 */
final class PostgresTwoPhase implements TwoPhaseSession {

    private final TwoPhaseSession record;
    private final RowTypes rowTypes;
    private final Consumer<List<String>> sendCollected;
    private final Runnable prepared;

    /**
     * @param sendCollected sends what the session has collected, and more statements behind it
     * @param prepared called when the open transaction is prepared, and so is the session's no more
     */
    PostgresTwoPhase(
            TwoPhaseSession record, RowTypes rowTypes, Consumer<List<String>> sendCollected, Runnable prepared) {
        this.record = record;
        this.rowTypes = rowTypes;
        this.sendCollected = sendCollected;
        this.prepared = prepared;
    }

    @Override
    public PreparedStanding standing(Xid xid) {
        return record.standing(xid);
    }

    @Override
    public String gid(Xid xid) {
        return record.gid(xid);
    }

    @Override
    public void recordIntent(PreparedTransaction transaction) {
        record.recordIntent(transaction);
    }

    @Override
    public void mayPrepare(Xid xid) {
        rowTypes.preparing(record.gid(xid));
    }

    @Override
    public void prepare(PreparedTransaction transaction) {
        sendCollected.accept(rowTypes.dropPrepared());
        record.prepare(transaction);
        prepared.run();
    }

    @Override
    public void commitPrepared(Xid xid) {
        record.commitPrepared(xid);
    }

    @Override
    public void rollbackPrepared(Xid xid) {
        record.rollbackPrepared(xid);
    }

    @Override
    public void forget(Xid xid) {
        sendCollected.accept(List.of());
        record.forget(xid);
    }
}
