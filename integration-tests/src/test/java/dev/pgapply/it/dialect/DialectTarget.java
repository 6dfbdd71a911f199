package dev.pgapply.it.dialect;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Oid;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Step;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.Commit;
import dev.pgapply.core.pgoutput.Delete;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.OldTuple;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.Truncate;
import dev.pgapply.core.pgoutput.Update;
import dev.pgapply.core.relation.RelationMap;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.TargetSession.CommittedPlan;
import dev.pgapply.core.target.TargetSession.Progress;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresSession;
import dev.pgapply.worker.jdbc.PostgresTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** One target database to which messages are applied by one of the two paths, and what that came to. */
final class DialectTarget implements AutoCloseable {

    /** By which path batches go, as far as they can. */
    enum Path {
        FAST,
        /** Each transaction's own steps, sent with few exchanges. */
        IN_ORDER,
        EXACT
    }

    private final Database database;
    private final Path path;
    private final PostgresTarget target;
    private final PostgresSession session;
    private final RelationMap relations = new RelationMap();

    private int changes;
    private int fastBatches;
    private int replays;
    private int missing;

    DialectTarget(Database database, Path path) {
        this(database, path, PostgresServer.SUPERUSER);
    }

    DialectTarget(Database database, Path path, String user) {
        this(database, path, user, database.server().port());
    }

    /** @param port the server's, or that of a proxy in front of it */
    DialectTarget(Database database, Path path, String user, int port) {
        this.database = database;
        this.path = path;
        ConnectionUrl url =
                ConnectionUrl.parse(database.libpqUrl(user, port), PostgresServer.PASSWORD, PostgresServer.SUPERUSER);
        this.target = new PostgresTarget(
                new PostgresConnections(url),
                "dialect",
                "off",
                connection -> {},
                (connection, pipeline, number) -> new PlainCommit(connection, pipeline));
        this.session = target.openSession("apply");
    }

    Database database() {
        return database;
    }

    PostgresTarget target() {
        return target;
    }

    PostgresSession session() {
        return session;
    }

    /** How many changes came. */
    int changes() {
        return changes;
    }

    /** How many plans were applied to the end. */
    int fastBatches() {
        return fastBatches;
    }

    /** How many plans were undone and replayed exactly, because the plan's expectations or the target's data wanted it. */
    int replays() {
        return replays;
    }

    /** How many rows that an update or delete wanted were not there. */
    int missing() {
        return missing;
    }

    /** Applies all messages, as one batch where they can be one. */
    void apply(List<PgOutputMessage> messages) {
        BatchBuilder builder = new BatchBuilder(new BatchLimits(1_000_000, 1L << 30));
        for (PgOutputMessage message : messages) {
            if (message instanceof Begin begin) {
                builder.begin(begin.xid(), begin.finalLsn());
            } else if (message instanceof Commit commit) {
                builder.commit(new TransactionSlice.End(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
            } else if (message instanceof Relation relation) {
                if (relations.willReplace(relation)) {
                    builder.sealWhole().forEach(this::apply);
                }
                relations.put(relation);
            } else if (message instanceof Insert insert) {
                builder.add(new Change(Change.Kind.INSERT, open(insert.relation()), null, insert.newTuple()), 0);
            } else if (message instanceof Update update) {
                OldTuple old = update.oldTuple();
                builder.add(
                        new Change(
                                Change.Kind.UPDATE,
                                open(update.relation()),
                                old == null ? null : old.tuple(),
                                update.newTuple()),
                        0);
            } else if (message instanceof Delete delete) {
                builder.add(
                        new Change(
                                Change.Kind.DELETE,
                                open(delete.relation()),
                                delete.oldTuple().tuple(),
                                null),
                        0);
            } else if (message instanceof Truncate truncate) {
                List<RelationMapEntry> tables =
                        truncate.relations().stream().map(this::open).toList();
                builder.add(new Truncation(tables, truncate.restartIdentity()), 0);
            }
        }
        builder.sealAll().forEach(this::apply);
    }

    /** Describes all tables anew at their next change. */
    void describeAnew() {
        relations.invalidateTargets();
    }

    private RelationMapEntry open(Oid relation) {
        return relations.open(relation, target::describe);
    }

    private void apply(ChangeBatch batch) {
        for (TransactionSlice slice : batch.transactions()) {
            changes += slice.steps().size();
        }
        SetPlan plan = batch.plan();
        if (path == Path.IN_ORDER) {
            for (TransactionSlice slice : batch.transactions()) {
                if (!applied(SetPlan.inOrder(slice), slice)) {
                    applyExactly(slice);
                }
            }
        } else if (path == Path.EXACT || plan == null || !applied(plan, batch.lastSlice())) {
            batch.transactions().forEach(this::applyExactly);
        }
    }

    /** False if the plan was undone: its expectations or the target's data want an exact replay. */
    private boolean applied(SetPlan plan, TransactionSlice last) {
        session.begin();
        try {
            CommittedPlan applied = session.executeAndCommit(plan, progress(last));
            if (applied.local() != null) {
                fastBatches++;
                missing += applied.outcome().missing().size();
                return true;
            }
            session.rollback();
        } catch (ApplyException e) {
            // Refused on data: the exact path meets the same error, or shows that there was none.
            session.rollback();
        }
        replays++;
        return false;
    }

    private void applyExactly(TransactionSlice slice) {
        session.begin();
        try {
            int notFound = 0;
            for (Step step : slice.steps()) {
                if (step instanceof Truncation truncation) {
                    session.truncate(truncation);
                } else if (session.execute((Change) step) != ChangeOutcome.APPLIED) {
                    notFound++;
                }
            }
            session.commit(progress(slice));
            missing += notFound;
        } catch (ApplyException e) {
            session.rollback();
            throw e;
        }
    }

    private static Progress progress(TransactionSlice slice) {
        TransactionSlice.End end = Objects.requireNonNull(slice.end());
        return new Progress(end.endLsn(), end.commitTime());
    }

    /** The table's rows as text, in no order that means anything but the same for the same rows. */
    List<String> rows(String table) {
        List<String> rows = new ArrayList<>(database.column("SELECT (t.*)::text FROM " + table + " t"));
        rows.sort(null);
        return rows;
    }

    @Override
    public void close() {
        session.close();
        target.close();
    }
}
