package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.target.TwoPhaseSession;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * One connection that applies changes to a PostgreSQL database. It is in autocommit mode; transactions are begun here, by a BEGIN that
 * travels with the first statement, and ended by {@link SessionCommit}. Owned by one thread, except for {@link #abort}.
 *
 * <p>What the session remembers of the target (statements, types) is forgotten with every error, because an error is how the target's
 * DDL shows.
 */
public final class PostgresSession implements TargetSession {

    private static final String BEGIN = "BEGIN";

    /** feature_not_supported: "cannot truncate a table referenced in a foreign key constraint" (heap.c, heap_truncate_check_FKs). */
    private static final String REFERENCED_BY_FOREIGN_KEY = "0A000";

    /**
     * Where foreign keys fire, each change is a statement of its own, whereas the publisher checked at the end of a statement with many.
     * What can wait for the commit waits.
     */
    private static final String DEFER = "SET CONSTRAINTS ALL DEFERRED";

    private final Connection connection;
    private final boolean replica;
    private final int backendPid;
    private final SessionCommit commit;
    private final TransactionEnd end;
    private final StatementCache statements;
    private final TypeCatalog types;
    private final RowTypes rowTypes = new RowTypes();
    private final Pipeline pipeline;
    private final CopyInsert copy;
    private final ExactExecutor exact;
    private final FullRowExecutor fullRow;
    private final Map<Oid, BoundRelation> relations = new HashMap<>();

    private boolean inTransaction;
    private boolean triggersPlanFreely;

    /**
     * @param connection in autocommit mode, let in by the fence; the session closes it
     * @param replica whether it has session_replication_role = replica
     * @param applySession 0 for the leader's session, else a parallel apply worker's number
     */
    PostgresSession(Connection connection, boolean replica, int applySession, SessionCommit.Factory commits)
            throws SQLException {
        this.backendPid = PostgresConnections.backendPid(connection);
        this.connection = connection;
        this.replica = replica;
        this.statements = new StatementCache(connection);
        this.types = new TypeCatalog(connection);
        this.pipeline = new Pipeline(statements);
        this.commit = commits.open(connection, pipeline, applySession);
        this.end = new TransactionEnd(connection, pipeline, commit);
        this.copy = new CopyInsert(connection);
        this.exact = new ExactExecutor(statements, types, rowTypes, pipeline);
        this.fullRow = new FullRowExecutor(types, rowTypes, pipeline, exact);
    }

    /** A step that talks to the server. */
    @FunctionalInterface
    private interface Step<T> {
        T run() throws SQLException;
    }

    private <T> T guarded(Step<T> step) {
        try {
            return step.run();
        } catch (SQLException e) {
            forget();
            throw PostgresErrors.applying(e);
        } catch (ApplyException e) {
            forget();
            throw e;
        }
    }

    private void forget() {
        pipeline.discard();
        statements.clear();
        types.forget();
        relations.clear();
    }

    private BoundRelation bound(RelationMapEntry entry) {
        BoundRelation known = relations.get(entry.remote().oid());
        if (known == null || !known.entry().equals(entry)) {
            known = BoundRelation.bind(entry, types);
            relations.put(entry.remote().oid(), known);
        }
        return known;
    }

    /** The bound relation; if it has triggers that fire, what they do is planned freely from here on. */
    private BoundRelation watched(RelationMapEntry entry) throws SQLException {
        BoundRelation relation = bound(entry);
        if (relation.firesRowTriggers() && !triggersPlanFreely) {
            pipeline.add(PlannerSettings.FREE);
            triggersPlanFreely = true;
        }
        return relation;
    }

    @Override
    public void begin() {
        guarded(() -> {
            pipeline.add(BEGIN);
            if (!replica) {
                pipeline.add(DEFER);
            }
            return true;
        });
        inTransaction = true;
        triggersPlanFreely = false;
    }

    @Override
    public SetOutcome execute(SetPlan plan) {
        return guarded(() -> {
            SetExecutor executor = collect(plan);
            pipeline.flush();
            return executor.outcome();
        });
    }

    private SetExecutor collect(SetPlan plan) throws SQLException {
        SetExecutor executor = new SetExecutor(this::watched, types, pipeline, copy, exact, fullRow);
        executor.execute(plan, this::truncate);
        return executor;
    }

    @Override
    public CommittedPlan executeAndCommit(SetPlan plan, Progress progress) {
        return guarded(() -> {
            SetExecutor executor = collect(plan);
            LocalCommit local;
            if (!executor.mayNeedReplay() && end.fitsBehindRows()) {
                local = end.commitBehindRows(progress);
            } else {
                end.record(progress);
                if (executor.outcome().needsExactReplay()) {
                    return new CommittedPlan(executor.outcome(), null);
                }
                local = end.complete(progress);
            }
            committed();
            return new CommittedPlan(executor.outcome(), local);
        });
    }

    @Override
    public ChangeOutcome execute(Change change) {
        return guarded(() -> {
            return exact.execute(watched(change.relation()), change);
        });
    }

    /** One command for all tables, and never CASCADE (worker.c, apply_handle_truncate). */
    @Override
    public void truncate(Truncation truncation) {
        guarded(() -> {
            StringJoiner tables = new StringJoiner(", ");
            for (RelationMapEntry relation : truncation.relations()) {
                TargetTable table = relation.target();
                String only = table.kind() == TargetTable.Kind.PLAIN ? "ONLY " : "";
                tables.add(only + Identifiers.quote(table.name()));
            }
            String identity = truncation.restartIdentity() ? " RESTART IDENTITY" : " CONTINUE IDENTITY";
            String truncate = "TRUNCATE " + tables + identity + " RESTRICT";
            if (truncation.inPart()) {
                truncateOrDelete(truncation, truncate);
                return true;
            }
            pipeline.add(truncate);
            pipeline.flush();
            return true;
        });
    }

    private void truncateOrDelete(Truncation truncation, String truncate) throws SQLException {
        pipeline.add("SAVEPOINT pgapply_truncate");
        pipeline.flush();
        try {
            pipeline.add(truncate);
            pipeline.flush();
        } catch (SQLException e) {
            if (!REFERENCED_BY_FOREIGN_KEY.equals(e.getSQLState())) {
                throw e;
            }
            pipeline.discard();
            pipeline.add("ROLLBACK TO SAVEPOINT pgapply_truncate");
            for (RelationMapEntry relation : truncation.relations()) {
                TargetTable table = relation.target();
                String only = table.kind() == TargetTable.Kind.PLAIN ? "ONLY " : "";
                pipeline.add("DELETE FROM " + only + Identifiers.quote(table.name()));
            }
            pipeline.flush();
        }
    }

    @Override
    public void savepoint(String name) {
        guarded(() -> {
            pipeline.add("SAVEPOINT " + Identifiers.quote(name));
            pipeline.flush();
            return true;
        });
    }

    @Override
    public void rollbackTo(String name) {
        pipeline.discard();
        rowTypes.rolledBackTo();
        triggersPlanFreely = false;
        guarded(() -> {
            pipeline.add("ROLLBACK TO SAVEPOINT " + Identifiers.quote(name));
            pipeline.flush();
            return true;
        });
    }

    @Override
    public LocalCommit commit(Progress progress) {
        return guarded(() -> {
            pipeline.addAll(rowTypes.dropPrepared());
            LocalCommit local = end.commit(progress);
            committed();
            return local;
        });
    }

    @Override
    public TwoPhaseSession twoPhase() {
        return new PostgresTwoPhase(commit.twoPhase(), rowTypes, this::sendCollected, this::committed);
    }

    private void sendCollected(List<String> more) {
        guarded(() -> {
            pipeline.addAll(more);
            pipeline.flush();
            return true;
        });
    }

    private void committed() {
        rowTypes.committed();
        inTransaction = false;
    }

    @Override
    public void rollback() {
        pipeline.discard();
        rowTypes.rolledBack();
        if (inTransaction) {
            commit.rollback();
        }
        inTransaction = false;
    }

    @Override
    public void recordIdle(Lsn idleLsn) {
        commit.recordIdle(idleLsn);
    }

    @Override
    public Lsn flushedLsn() {
        return commit.flushedLsn();
    }

    @Override
    public void noteCommit(LocalCommit local) {
        commit.noteCommit(local);
    }

    @Override
    public int backendPid() {
        return backendPid;
    }

    @Override
    public void abort() {
        PostgresConnections.cut(connection);
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // An abandoned connection is closed all the same: its backend ends the transaction when it finds the socket
            // gone.
            PostgresConnections.cut(connection);
        }
    }
}
