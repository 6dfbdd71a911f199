package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.spool.HeldSpool;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.tablesync.HeldTables;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The leader's part in the synchronisation of tables: it holds back the changes of a table that is being copied, and goes on with all
 * others. What table sync workers ask of it ({@link TableHold}) it does between two transactions; whatever they are told has happened at
 * one point of the stream.
 *
 * <p>{@link #ask}, {@link #isAsked}, {@link #isEnded} and {@link #subscribed} may be called from any thread; everything else belongs to the leader apply worker's.
 */
public final class TableHolds {

    /** What may be asked of the leader. */
    interface Request {

        /** Done between two transactions. */
        void attend(TableHolds holds, Barrier barrier, BooleanSupplier givenUp);

        /** The leader has ended. */
        void refuse(ApplyException reason);
    }

    /** How the leader gets everything committed that it has dispatched. */
    @FunctionalInterface
    public interface Barrier {

        /** @param givenUp asked again and again; true ends the wait */
        void commitAll(BooleanSupplier givenUp);
    }

    private final HeldTables tables;
    private final SpoolDirectory spool;
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final Map<QualifiedName, CompletableFuture<ApplyException>> broken = new HashMap<>();

    /** As {@link #tables} has it, for other threads. */
    private volatile SubscribedTables subscribed;

    /** Set by the leader's thread at its end; requests that come later find it. */
    private volatile @Nullable ApplyException ended;

    /** The transaction, and the message in it, that the next change is of. */
    private @Nullable Begin transaction;

    private byte[] buffer = {};
    private int offset;
    private int length;
    private boolean inStreamBlock;

    /**
     * @param tables where each table stands when the stream begins
     * @param spool this life's own
     */
    public TableHolds(SubscribedTables tables, SpoolDirectory spool) {
        this.tables = new HeldTables(tables);
        this.subscribed = tables;
        this.spool = spool;
    }

    /** Whether a table sync worker waits for the leader. */
    public boolean isAsked() {
        return !requests.isEmpty();
    }

    /** Whether the leader has ended, and with it every hold. Any thread. */
    public boolean isEnded() {
        return ended != null;
    }

    void ask(Request request) {
        requests.add(request);
        ApplyException reason = ended;
        if (reason != null) {
            refuseAll(reason);
        }
    }

    private void refuseAll(ApplyException reason) {
        for (Request request = requests.poll(); request != null; request = requests.poll()) {
            request.refuse(reason);
        }
    }

    /**
     * Does what was asked. Called between two transactions, and while none is in a parallel apply worker.
     *
     * @param givenUp true ends every wait, and with it the leader's life
     */
    public void attend(Barrier barrier, BooleanSupplier givenUp) {
        for (Request request = requests.poll(); request != null; request = requests.poll()) {
            request.attend(this, barrier, givenUp);
            if (givenUp.getAsBoolean()) {
                return;
            }
        }
    }

    /** The leader ends: nobody must wait for it. */
    public void end() {
        ApplyException reason =
                new ApplyException(Kind.TRANSIENT, "the stream has ended, the table's copy begins again");
        ended = reason;
        refuseAll(reason);
    }

    /**
     * Whether a transaction in progress may be applied at once: every table takes its changes, and nobody waits for a table to be held.
     *
     * @param reached a position that its commit will lie at or behind
     */
    boolean allTake(Lsn reached) {
        return !isAsked() && subscribed.allTake(reached);
    }

    /** Where the tables stand. Any thread; nothing changes while a transaction is in a parallel apply worker. */
    public SubscribedTables subscribed() {
        return subscribed;
    }

    /** @param told completed if the changes cannot be held back any longer */
    void hold(QualifiedName table, CompletableFuture<ApplyException> told) {
        tables.hold(table, spool.hold());
        subscribed = tables.subscribed();
        broken.put(table, told);
    }

    /** @throws ApplyException if the table is not held any more */
    HeldSpool held(QualifiedName table) {
        HeldSpool held = tables.spool(table);
        if (held == null) {
            throw new ApplyException(Kind.TRANSIENT, "the table is not held any more, its copy begins again");
        }
        return held;
    }

    /** The table stands so from now on, and is not held any more. */
    void set(QualifiedName table, SubscribedTables.Entry entry) {
        discard(table, tables.set(table, entry));
    }

    /** The table is not part of the subscription any more. */
    void remove(QualifiedName table) {
        discard(table, tables.remove(table));
    }

    private void discard(QualifiedName table, @Nullable HeldSpool held) {
        subscribed = tables.subscribed();
        broken.remove(table);
        if (held != null) {
            held.delete();
        }
    }

    /** What is done with a change of the table, in the transaction that has begun. */
    HeldTables.Route route(QualifiedName table, Lsn finalLsn) {
        return tables.route(table, finalLsn);
    }

    /** The transaction that the next messages are of. */
    void begin(Begin begin) {
        transaction = begin;
    }

    /** The message that the next change is made of; the bytes are not kept. */
    void message(byte[] messageBuffer, int messageOffset, int messageLength, boolean ofStreamBlock) {
        buffer = messageBuffer;
        offset = messageOffset;
        length = messageLength;
        inStreamBlock = ofStreamBlock;
    }

    /** Holds the change back. Where that fails the table gives it up, and nobody else is disturbed. */
    void append(QualifiedName table, Relation inForce) {
        Begin begin = transaction;
        if (begin == null) {
            throw new IllegalStateException("no transaction has begun");
        }
        try {
            held(table).append(begin, inForce, buffer, offset, length, inStreamBlock);
        } catch (ApplyException e) {
            CompletableFuture<ApplyException> told = broken.get(table);
            set(table, new SubscribedTables.Entry(TableSyncState.DATASYNC, null));
            if (told != null) {
                told.complete(e);
            }
        }
    }
}
