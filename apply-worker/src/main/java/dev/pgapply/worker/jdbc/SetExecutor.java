package dev.pgapply.worker.jdbc;

import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.SetPlan.Expectation;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.SearchKey;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.core.target.SetOutcome.MissingRow;
import dev.pgapply.worker.jdbc.SetStatements.SqlText;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Executes one set plan: collects statements into pipelined messages, and sends them before whatever needs an exchange of its own (COPY,
 * single changes, a hashed pass). Used once. Owned by the session's thread; the session has an open transaction.
 */
final class SetExecutor {

    /**
     * From so many rows on, inserts go by COPY. Measured on a machine shared with others (rows a second, arrays against COPY): a table
     * like pgbench_history 52,000 / 70,000 for 10 rows, 391,000 / 485,000 for 200, 353,000 / 392,000 for 1,000, 513,000 / 734,000 for
     * 20,000; two columns with a key 454,000 / 348,000 for 200, 242,000 / 510,000 for 20,000. So COPY saves a millisecond at 2,000 rows,
     * and its two exchanges cost ten behind a round trip of 5 ms.
     *
     * <p>Updates of 20,000 scattered rows out of a million took 245 ms by arrays and 382 ms by COPY into a temporary table that is then
     * joined; 12 ms against 22 ms for 1,000. So they always go by arrays.
     */
    static final int COPY_ROWS = 2_000;

    /** Binds a relation, and prepares the session for it. */
    @FunctionalInterface
    interface Binder {
        BoundRelation bind(RelationMapEntry relation) throws SQLException;
    }

    private final Binder bound;
    private final TypeCatalog types;
    private final Pipeline pipeline;
    private final CopyInsert copy;
    private final ExactExecutor exact;
    private final FullRowExecutor fullRow;

    private final List<MissingRow> missing = new ArrayList<>();
    private boolean replay;
    private boolean undecided;

    SetExecutor(
            Binder bound,
            TypeCatalog types,
            Pipeline pipeline,
            CopyInsert copy,
            ExactExecutor exact,
            FullRowExecutor fullRow) {
        this.bound = bound;
        this.types = types;
        this.pipeline = pipeline;
        this.copy = copy;
        this.exact = exact;
        this.fullRow = fullRow;
    }

    /** Executes the plan. What is left in the pipeline at the end is the caller's to send; then {@link #outcome} is known. */
    void execute(SetPlan plan, Consumer<Truncation> truncate) throws SQLException {
        for (SetPlan.Phase phase : plan.phases()) {
            if (phase instanceof SetPlan.RelationPhase relations) {
                for (SetPlan.RelationChanges changes : relations.relations()) {
                    BoundRelation relation = bound.bind(changes.relation());
                    for (SetPlan.Stage stage : changes.stages()) {
                        execute(relation, stage);
                    }
                }
            } else if (phase instanceof SetPlan.TruncatePhase truncation) {
                pipeline.flush();
                truncate.accept(truncation.truncation());
            }
            if (replay) {
                break;
            }
        }
    }

    /** Whether the batch has to be replayed, or an answer to what is left in the pipeline may say so. */
    boolean mayNeedReplay() {
        return replay || (undecided && !pipeline.isEmpty());
    }

    SetOutcome outcome() {
        return replay ? SetOutcome.REPLAY : new SetOutcome(missing, false);
    }

    private void execute(BoundRelation relation, SetPlan.Stage stage) throws SQLException {
        boolean wholeRows = relation.entry().key().kind() == SearchKey.Kind.FULL_ROW;
        if (!stage.deletes().isEmpty()) {
            List<SetPlan.Delete> absent = stage.deletes().stream()
                    .filter(delete -> delete.expectation() == Expectation.MUST_BE_ABSENT)
                    .toList();
            List<SetPlan.Delete> present = stage.deletes().stream()
                    .filter(delete -> delete.expectation() != Expectation.MUST_BE_ABSENT)
                    .toList();
            expectAbsent(relation, absent);
            if (wholeRows) {
                report(fullRow.delete(relation, present), relation, ConflictType.DELETE_MISSING);
            } else {
                delete(relation, present);
            }
        }
        for (SetPlan.UpdateSet set : stage.updates()) {
            if (wholeRows) {
                report(fullRow.update(relation, set), relation, ConflictType.UPDATE_MISSING);
            } else {
                update(relation, set);
            }
        }
        insert(relation, stage.inserts());
        inOrder(relation, stage.inOrder());
    }

    private void expectAbsent(BoundRelation relation, List<SetPlan.Delete> deletes) throws SQLException {
        if (deletes.isEmpty()) {
            return;
        }
        List<ColumnArray> key = arrays(relation.key(), searches(deletes));
        if (key == null) {
            replay = true;
            return;
        }
        undecided = true;
        SqlText statement = SetStatements.anyPresent(relation, key);
        pipeline.add(statement.sql(), statement.parameters(), (rows, count) -> replay |= rows != null && rows.next());
    }

    private void delete(BoundRelation relation, List<SetPlan.Delete> deletes) throws SQLException {
        if (deletes.isEmpty()) {
            return;
        }
        List<ColumnArray> key = arrays(relation.key(), searches(deletes));
        if (key == null) {
            singleDeletes(relation, deletes);
            return;
        }
        SqlText statement = SetStatements.delete(relation, key);
        expect(deletes, SetPlan.Delete::expectation);
        addReporting(statement, ordinal -> {
            SetPlan.Delete delete = deletes.get(ordinal);
            miss(relation, delete.search(), delete.expectation(), ConflictType.DELETE_MISSING);
        });
    }

    private void update(BoundRelation relation, SetPlan.UpdateSet set) throws SQLException {
        List<Tuple> searches = set.rows().stream().map(SetPlan.Update::search).toList();
        List<ColumnArray> key = arrays(relation.key(), searches);
        List<BoundColumn> settable = settable(relation, set);
        List<ColumnArray> values = settable == null ? null : arrays(settable, newTuples(set));
        if (key == null || values == null) {
            singleUpdates(relation, set);
            return;
        }
        SqlText statement =
                values.isEmpty() ? SetStatements.lock(relation, key) : SetStatements.update(relation, key, values);
        expect(set.rows(), SetPlan.Update::expectation);
        addReporting(statement, ordinal -> {
            SetPlan.Update update = set.rows().get(ordinal);
            miss(relation, update.search(), update.expectation(), ConflictType.UPDATE_MISSING);
        });
    }

    /**
     * The columns that the statement sets. Those of the key have their value already, as its bytes decide equality; they are set only
     * where there are no others, so that the row gets its new version as in PostgreSQL. Null if a column is among them that UPDATE
     * refuses and that may have changed.
     */
    private static @Nullable List<BoundColumn> settable(BoundRelation relation, SetPlan.UpdateSet set) {
        List<BoundColumn> others = new ArrayList<>();
        List<BoundColumn> ofKey = new ArrayList<>();
        for (int remote : set.setColumns()) {
            BoundColumn column = relation.column(remote);
            boolean key = relation.isKey(column);
            if (column.alwaysIdentity()) {
                if (!key) {
                    return null;
                }
            } else {
                (key ? ofKey : others).add(column);
            }
        }
        return others.isEmpty() ? ofKey : others;
    }

    private void insert(BoundRelation relation, List<Tuple> rows) throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        boolean columns = !relation.columns().isEmpty();
        if (rows.size() >= COPY_ROWS && columns) {
            CopyEncoder encoder = CopyInsert.encoderFor(relation, rows);
            if (encoder != null) {
                pipeline.flush();
                if (!replay) {
                    copy.insert(relation, rows, encoder);
                }
                return;
            }
        }
        List<ColumnArray> values = columns ? arrays(relation.columns(), rows) : null;
        if (values == null) {
            inOrder(relation, singleInserts(relation, rows));
            return;
        }
        SqlText statement = SetStatements.insert(relation, values);
        pipeline.add(statement.sql(), statement.parameters(), (result, count) -> {});
    }

    private void inOrder(BoundRelation relation, List<Change> changes) throws SQLException {
        if (changes.isEmpty() || replay) {
            return;
        }
        undecided |= relation.firesRowTriggers();
        executeInOrder(relation, changes, i -> {
            Change change = changes.get(i);
            ConflictType type =
                    change.kind() == Change.Kind.UPDATE ? ConflictType.UPDATE_MISSING : ConflictType.DELETE_MISSING;
            missing.add(new MissingRow(type, relation.entry(), Objects.requireNonNull(change.searchTuple())));
        });
    }

    private void executeInOrder(BoundRelation relation, List<Change> changes, IntConsumer notFound)
            throws SQLException {
        exact.executeInOrder(relation, changes, new ExactExecutor.Outcomes() {
            @Override
            public void missing(int number) {
                notFound.accept(number);
            }

            @Override
            public void unclear() {
                replay = true;
            }
        });
    }

    /** A set whose values cannot travel in arrays, by single statements. */
    private void singleDeletes(BoundRelation relation, List<SetPlan.Delete> deletes) throws SQLException {
        List<Change> changes = new ArrayList<>();
        for (SetPlan.Delete delete : deletes) {
            changes.add(new Change(Change.Kind.DELETE, relation.entry(), delete.search(), null));
        }
        executeInOrder(relation, changes, i -> {
            SetPlan.Delete delete = deletes.get(i);
            miss(relation, delete.search(), delete.expectation(), ConflictType.DELETE_MISSING);
        });
    }

    /**
     * The same for updates. The search tuple of a set is not what the row was before, except for the key: the new tuple has the same key
     * and searches as well, and does not say what other columns were.
     */
    private void singleUpdates(BoundRelation relation, SetPlan.UpdateSet set) throws SQLException {
        List<Change> changes = new ArrayList<>();
        for (SetPlan.Update update : set.rows()) {
            for (BoundColumn column : relation.key()) {
                if (update.newTuple().isUnchanged(column.remote())) {
                    replay = true;
                    return;
                }
            }
            changes.add(new Change(Change.Kind.UPDATE, relation.entry(), null, update.newTuple()));
        }
        executeInOrder(relation, changes, i -> {
            SetPlan.Update update = set.rows().get(i);
            miss(relation, update.search(), update.expectation(), ConflictType.UPDATE_MISSING);
        });
    }

    private void report(FullRowExecutor.Missing found, BoundRelation relation, ConflictType type) {
        replay |= found.needsReplay();
        for (Tuple search : found.searches()) {
            missing.add(new MissingRow(type, relation.entry(), search));
        }
    }

    /** A set may ask for a replay if one of its rows has to be found, or if more may be missing than a statement reports. */
    private <T> void expect(List<T> rows, Function<T, Expectation> expectation) {
        undecided = undecided
                || rows.size() >= SetStatements.MAX_MISSING
                || rows.stream().anyMatch(row -> expectation.apply(row) != Expectation.MAY_BE_MISSING);
    }

    private void addReporting(SqlText statement, IntConsumer missingOrdinal) throws SQLException {
        pipeline.add(statement.sql(), statement.parameters(), (rows, count) -> {
            int reported = 0;
            while (rows != null && rows.next()) {
                missingOrdinal.accept((int) rows.getLong(1) - 1);
                reported++;
            }
            replay |= reported >= SetStatements.MAX_MISSING;
        });
    }

    private void miss(BoundRelation relation, Tuple search, Expectation expectation, ConflictType type) {
        if (expectation == Expectation.MAY_BE_MISSING) {
            missing.add(new MissingRow(type, relation.entry(), search));
        } else {
            replay = true;
        }
    }

    /** Null if one of the columns cannot travel in an array. */
    private @Nullable List<ColumnArray> arrays(List<BoundColumn> columns, List<Tuple> rows) {
        return ColumnArray.all(columns, rows, types);
    }

    private static List<Tuple> searches(List<SetPlan.Delete> deletes) {
        return deletes.stream().map(SetPlan.Delete::search).toList();
    }

    static List<Tuple> newTuples(SetPlan.UpdateSet set) {
        return set.rows().stream().map(SetPlan.Update::newTuple).toList();
    }

    private static List<Change> singleInserts(BoundRelation relation, List<Tuple> rows) {
        return rows.stream()
                .map(row -> new Change(Change.Kind.INSERT, relation.entry(), null, row))
                .toList();
    }
}
