package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.PgOutputDecoder;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.spool.SpoolReader;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.spool.SpooledMessage;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Replays the changes of one table that were held back while it was copied, on a session of its own: the same handlers, batches and
 * applier as the leader's. What committed before the copy's point is in the copy, and skipped. Owned by the table sync worker's thread.
 */
public final class HeldReplay {

    private static final int MESSAGES_PER_TICK = 1024;

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final BatchBuilder batch;
    private final OpenRelations relations;
    private final ChangeCollector changes;
    private final TransactionApplier applier;
    private final ApplyErrorContext context;

    /** Up to where the spool is replayed. */
    private long position;

    private @Nullable Begin transaction;

    /**
     * @param syncLsn where the copy is consistent
     * @param session commits without touching the subscription's progress; the caller closes it
     * @param relations for this replay alone
     * @param stats counts the rows
     */
    public HeldReplay(
            QualifiedName table,
            Lsn syncLsn,
            String originName,
            BatchLimits limits,
            TargetSession session,
            OpenRelations relations,
            SubscriptionStats stats) {
        this.batch = new BatchBuilder(limits);
        this.relations = relations;
        this.context = new ApplyErrorContext(originName);
        this.applier = new TransactionApplier(
                session, stats, new ApplyErrorContext(originName), (endLsn, commitTime, local) -> {});
        SubscribedTables only =
                new SubscribedTables(Map.of(table, new SubscribedTables.Entry(TableSyncState.SYNCDONE, syncLsn)));
        this.changes = ChangeCollector.ofOneTable(batch, relations, only, stats, applier::apply, context);
    }

    /** Up to where the spool is replayed, in bytes. */
    public long position() {
        return position;
    }

    /**
     * Replays what came since the last call. When this returns it is committed.
     *
     * @throws ApplyException with its context; what it was about is rolled back
     */
    public void apply(SpooledChanges upTo, BooleanSupplier givenUp) {
        try (SpoolReader reader = SpoolReader.openHeld(upTo, position)) {
            int count = 0;
            for (SpooledMessage next = reader.next(); next != null; next = reader.next()) {
                if (count++ % MESSAGES_PER_TICK == 0) {
                    relations.tick();
                    if (givenUp.getAsBoolean()) {
                        throw new ApplyException(Kind.TRANSIENT, "the table's copy is being stopped");
                    }
                }
                PgOutputMessage message = decoder.decode(next.buffer(), next.offset(), next.length(), false);
                context.message(message.type(), null);
                handle(message, next.length());
            }
            endTransaction();
            context.clear();
            batch.sealWhole().forEach(applier::apply);
            position = upTo.length();
        } catch (ApplyException e) {
            throw e.context() == null ? context.addTo(e) : e;
        }
    }

    private void handle(PgOutputMessage message, int bytes) {
        if (message instanceof Begin begin) {
            endTransaction();
            transaction = begin;
            context.transaction(begin.xid(), begin.finalLsn());
            batch.begin(begin.xid(), begin.finalLsn());
        } else if (message instanceof Relation relation) {
            changes.handleRelation(relation);
        } else if (message instanceof Insert insert) {
            changes.handleInsert(insert, finalLsn(), bytes);
        } else if (message instanceof Update update) {
            changes.handleUpdate(update, finalLsn(), bytes);
        } else if (message instanceof Delete delete) {
            changes.handleDelete(delete, finalLsn(), bytes);
        } else if (message instanceof Truncate truncate) {
            changes.handleTruncate(truncate, finalLsn(), bytes);
        } else {
            throw new ApplyException(
                    Kind.SPOOL_FAILED, "a " + message.type().label() + " message is in the spool of a held table");
        }
    }

    private Lsn finalLsn() {
        Begin begin = transaction;
        if (begin == null) {
            throw new ApplyException(Kind.SPOOL_FAILED, "the spool of a held table begins in a transaction");
        }
        return begin.finalLsn();
    }

    /** Its end_lsn is not known here, and not needed: no progress is recorded by it. */
    private void endTransaction() {
        Begin begin = transaction;
        if (begin != null) {
            batch.commit(new TransactionSlice.End(begin.finalLsn(), begin.finalLsn(), begin.commitTime()));
            transaction = null;
            if (batch.isFull()) {
                batch.sealWhole().forEach(applier::apply);
            }
        }
    }
}
