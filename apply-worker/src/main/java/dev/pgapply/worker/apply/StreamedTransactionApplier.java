package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.PgOutputDecoder;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.StreamAbort;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.spool.SpoolReader;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.spool.SpooledMessage;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TargetSession.LocalCommit;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.core.transaction.SubxactList;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies one streamed transaction after the other while each is in progress (worker.c with PARALLEL_APPLY; applyparallelworker.c,
 * pa_start_subtrans, pa_stream_abort). Owned by a parallel apply worker's thread, as is the session.
 *
 * <p>Changes are collected into batches inside the one target transaction. A batch never spans a savepoint: {@code
 * pg_sp_<subid>_<xid>} is defined before a subtransaction's first change, and its abort rolls back to it. The publisher announces each
 * relation in each transaction that it streams, so that what this class knows of relations is the transaction's own.
 */
public final class StreamedTransactionApplier {

    /** No commit LSN is known yet; the leader has seen to it that every table takes what commits from now on. */
    private static final Lsn COMMITS_LATER = new Lsn(-1);

    /** Reading the spool may take minutes: so often it looks at the clock. */
    private static final int MESSAGES_PER_TICK = 1024;

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final int subid;
    private final boolean twoPhase;
    private final TargetSession session;
    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final ChangeCollector changes;
    private final TransactionApplier applier;
    private final ApplyErrorContext context;

    private SubxactList subxacts = new SubxactList();
    private final List<long[]> marks = new ArrayList<>();
    private volatile int subxactCount;

    private @Nullable Xid xid;
    private int lastSubxid;
    private @Nullable LocalCommit committed;

    /**
     * @param subid the subscription's number, for the savepoints' names
     * @param twoPhase whether a transaction may end with PREPARE
     * @param tables where the tables stand; nothing of it changes while a transaction is here
     */
    public StreamedTransactionApplier(
            int subid,
            boolean twoPhase,
            String originName,
            TargetSession session,
            BatchLimits limits,
            OpenRelations relations,
            Supplier<SubscribedTables> tables,
            SubscriptionStats stats) {
        this.subid = subid;
        this.twoPhase = twoPhase;
        this.session = session;
        this.batch = new BatchBuilder(limits);
        this.relations = relations;
        this.context = new ApplyErrorContext(originName);
        this.applier = new TransactionApplier(
                session, stats, new ApplyErrorContext(originName), (end, time, local) -> committed = local);
        this.changes = ChangeCollector.ofWorker(batch, relations, tables, stats, this::execute, context);
    }

    private void execute(ChangeBatch sealed) {
        applier.apply(sealed);
    }

    /** Looks at the clock: once for all messages that were taken together. */
    public void tick() {
        relations.tick();
    }

    /** How many subtransactions have changes that are not undone. Any thread. */
    public int subxactCount() {
        return subxactCount;
    }

    /** Begins the target transaction. */
    public void begin(Xid transaction) {
        xid = transaction;
        lastSubxid = transaction.value();
        forgetSubtransactions(0);
        committed = null;
        if (twoPhase) {
            session.twoPhase().mayPrepare(transaction);
        }
        session.begin();
        batch.resume(transaction);
    }

    /**
     * Takes a message of a stream block, or a STREAM ABORT out of the spool.
     *
     * @param buffer has it, and is kept by what is made of it
     * @throws ApplyException with its context; the transaction is good for nothing any more
     */
    public void apply(byte[] buffer, int offset, int length) {
        context.transaction(transaction(), null);
        context.message(MessageType.of(buffer[offset]), null);
        try {
            PgOutputMessage message = decoder.decode(buffer, offset, length, true);
            if (message.type().carriesXid()) {
                beginSubtransaction(subxid(buffer, offset));
            }
            applyMessage(message, length);
        } catch (ApplyException e) {
            throw context.addTo(e);
        }
    }

    private Xid transaction() {
        Xid open = xid;
        if (open == null) {
            throw new IllegalStateException("no transaction has begun");
        }
        return open;
    }

    /** Behind the type byte; the decoder has checked that it is there. */
    private static int subxid(byte[] buffer, int offset) {
        return (buffer[offset + 1] & 0xFF) << 24
                | (buffer[offset + 2] & 0xFF) << 16
                | (buffer[offset + 3] & 0xFF) << 8
                | (buffer[offset + 4] & 0xFF);
    }

    private void applyMessage(PgOutputMessage message, int wireBytes) {
        if (message instanceof Insert insert) {
            changes.handleInsert(insert, COMMITS_LATER, wireBytes);
        } else if (message instanceof Update update) {
            changes.handleUpdate(update, COMMITS_LATER, wireBytes);
        } else if (message instanceof Delete delete) {
            changes.handleDelete(delete, COMMITS_LATER, wireBytes);
        } else if (message instanceof Truncate truncate) {
            changes.handleTruncate(truncate, COMMITS_LATER, wireBytes);
        } else if (message instanceof Relation relation) {
            changes.handleRelation(relation);
        } else if (message instanceof StreamAbort abort) {
            abortSubtransaction(abort.subxid());
        } else if (!message.type().carriesXid() && message.type() != MessageType.ORIGIN) {
            throw new ApplyException(
                    Kind.PROTOCOL_VIOLATION,
                    "a " + message.type().label() + " message came to a parallel apply worker");
        }
    }

    /** pa_start_subtrans: a savepoint before the first change. */
    private void beginSubtransaction(int subxid) {
        if (subxid == lastSubxid) {
            return;
        }
        lastSubxid = subxid;
        Xid subtransaction = new Xid(subxid);
        if (subtransaction.equals(xid) || subxacts.indexOf(subtransaction) >= 0) {
            return;
        }
        applyPending();
        session.savepoint(savepoint(subtransaction));
        subxacts.add(subtransaction, subxacts.size());
        marks.add(applier.mark());
        subxactCount = subxacts.size();
    }

    private String savepoint(Xid subtransaction) {
        return "pg_sp_" + subid + "_" + subtransaction;
    }

    /** pa_stream_abort, of a subtransaction. One without changes here has nothing to undo. */
    public void abortSubtransaction(Xid subxid) {
        int index = subxacts.indexOf(subxid);
        if (index < 0) {
            return;
        }
        // What is collected came behind the last savepoint, and so behind this one: it is undone, too.
        batch.clear();
        batch.resume(transaction());
        session.rollbackTo(savepoint(subxid));
        applier.backTo(marks.get(index));
        forgetSubtransactions(index);
        lastSubxid = transaction().value();
    }

    private void forgetSubtransactions(int from) {
        if (from == 0) {
            // A list that was long has a table that is as long.
            subxacts = new SubxactList();
        } else {
            subxacts.truncate(from);
        }
        marks.subList(from, marks.size()).clear();
        subxactCount = from;
    }

    /** Whether changes are collected that were not sent to the target yet. */
    public boolean hasPending() {
        return batch.rows() > 0;
    }

    /** Sends what is collected to the target. */
    public void applyPending() {
        if (hasPending()) {
            batch.sealAll().forEach(this::execute);
        }
    }

    /**
     * Applies the rest and commits.
     *
     * @param rest what stands in the spool, null if nothing does
     * @param givenUp asked while the spool is read
     * @return null if it was given up; nothing is committed then
     */
    public @Nullable LocalCommit commit(StreamCommit commit, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
        if (rest != null && !replay(rest, givenUp)) {
            return null;
        }
        batch.commit(new TransactionSlice.End(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
        batch.sealWhole().forEach(this::execute);
        xid = null;
        return committed;
    }

    /**
     * Applies the rest and prepares. The changes are durable when this returns; the progress is not this session's to record.
     *
     * @param rest what stands in the spool, null if nothing does
     * @return false if it was given up; nothing is prepared then
     */
    public boolean prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
        if (rest != null && !replay(rest, givenUp)) {
            return false;
        }
        PreparedTransaction transaction =
                new PreparedTransaction(prepare.xid(), prepare.endLsn(), prepare.prepareTime());
        batch.commit(new TransactionSlice.End(prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime()));
        batch.sealWhole().forEach(last -> applier.applyPrepared(last.firstSlice(), last.plan(), transaction));
        xid = null;
        return true;
    }

    /** worker.c, apply_spooled_messages; false if it was given up. */
    private boolean replay(SpooledChanges rest, BooleanSupplier givenUp) {
        try (SpoolReader reader = SpoolReader.open(rest)) {
            int count = 0;
            for (SpooledMessage next = reader.next(); next != null; next = reader.next()) {
                if (count++ % MESSAGES_PER_TICK == 0) {
                    relations.tick();
                    if (givenUp.getAsBoolean()) {
                        return false;
                    }
                }
                apply(next.buffer(), next.offset(), next.length());
            }
            return true;
        }
    }

    /** Undoes the transaction; harmless where none has begun. */
    public void rollback() {
        batch.clear();
        session.rollback();
        applier.backTo(new long[applier.mark().length]);
        forgetSubtransactions(0);
        xid = null;
    }
}
