package dev.pgapply.worker.jdbc;

import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.SetPlan.Expectation;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.worker.jdbc.RowTypes.RowType;
import dev.pgapply.worker.jdbc.SetStatements.SqlText;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Executes sets of a relation whose rows are found by all published columns, by one hashed pass each; a row that the pass did not find
 * is tried once more by a statement of its own, since a concurrent local update hides it. Owned by the session's thread.
 */
final class FullRowExecutor {

    /**
     * What the pass could not find.
     *
     * @param searches rows that are missing, each one conflict
     * @param needsReplay whether a row is missing that must be there
     */
    record Missing(List<Tuple> searches, boolean needsReplay) {
        static final Missing NONE = new Missing(List.of(), false);
        static final Missing REPLAY = new Missing(List.of(), true);
    }

    private final TypeCatalog types;
    private final RowTypes rowTypes;
    private final Pipeline pipeline;
    private final ExactExecutor exact;

    FullRowExecutor(TypeCatalog types, RowTypes rowTypes, Pipeline pipeline, ExactExecutor exact) {
        this.types = types;
        this.rowTypes = rowTypes;
        this.pipeline = pipeline;
        this.exact = exact;
    }

    Missing delete(BoundRelation relation, List<SetPlan.Delete> deletes) throws SQLException {
        if (deletes.isEmpty()) {
            return Missing.NONE;
        }
        List<Wanted> wanted = new ArrayList<>();
        for (SetPlan.Delete delete : deletes) {
            Change change = new Change(Change.Kind.DELETE, relation.entry(), delete.search(), null);
            wanted.add(new Wanted(change, delete.search(), delete.expectation()));
        }
        List<ColumnArray> key = ColumnArray.all(relation.key(), searches(wanted), types);
        if (key == null) {
            return oneByOne(relation, wanted);
        }
        String rowType = rowType(relation);
        return pass(relation, FullRowStatements.delete(relation, rowType, key, narrowing(key)), wanted);
    }

    Missing update(BoundRelation relation, SetPlan.UpdateSet set) throws SQLException {
        List<Wanted> wanted = new ArrayList<>();
        for (SetPlan.Update update : set.rows()) {
            Change change = new Change(Change.Kind.UPDATE, relation.entry(), update.search(), update.newTuple());
            wanted.add(new Wanted(change, update.search(), update.expectation()));
        }
        List<BoundColumn> settable = settable(relation, set);
        List<ColumnArray> key = ColumnArray.all(relation.key(), searches(wanted), types);
        List<ColumnArray> values = ColumnArray.all(settable, SetExecutor.newTuples(set), types);
        if (key == null || values == null || values.isEmpty()) {
            return oneByOne(relation, wanted);
        }
        String rowType = rowType(relation);
        return pass(relation, FullRowStatements.update(relation, rowType, key, narrowing(key), values), wanted);
    }

    /** One row that a change has to find. */
    private record Wanted(Change change, Tuple search, Expectation expectation) {}

    private static List<Tuple> searches(List<Wanted> wanted) {
        return wanted.stream().map(Wanted::search).toList();
    }

    /** Empty where a GENERATED ALWAYS identity has changed, which no UPDATE can set. */
    private static List<BoundColumn> settable(BoundRelation relation, SetPlan.UpdateSet set) {
        List<BoundColumn> settable = new ArrayList<>();
        for (int remote : set.setColumns()) {
            BoundColumn column = relation.column(remote);
            if (!column.alwaysIdentity()) {
                settable.add(column);
                continue;
            }
            for (SetPlan.Update update : set.rows()) {
                if (!update.search().sameBytes(remote, update.newTuple(), remote)) {
                    return List.of();
                }
            }
        }
        return settable;
    }

    /**
     * The number of the column that tells most of the wanted rows apart, out of those that have no NULL and whose equality is a
     * built-in operator's; -1 if there is none.
     */
    private static int narrowing(List<ColumnArray> key) {
        int best = -1;
        int most = 0;
        for (int i = 0; i < key.size(); i++) {
            ColumnArray column = key.get(i);
            int remote = column.column().remote();
            if (!column.column().local().byteEquality()
                    || column.rows().stream().anyMatch(row -> row.isNull(remote))) {
                continue;
            }
            int distinct = (int) column.rows().stream()
                    .mapToInt(row -> row.hashOf(remote))
                    .distinct()
                    .count();
            if (distinct > most) {
                best = i;
                most = distinct;
            }
        }
        return best;
    }

    private String rowType(BoundRelation relation) throws SQLException {
        RowType type = rowTypes.of(relation);
        if (type.create() != null) {
            pipeline.add(type.create());
        }
        return type.name();
    }

    private Missing pass(BoundRelation relation, SqlText statement, List<Wanted> wanted) throws SQLException {
        List<Wanted> notFound = new ArrayList<>();
        pipeline.add(PlannerSettings.HASHED);
        pipeline.add(statement.sql(), statement.parameters(), (rows, count) -> {
            while (rows != null && rows.next()) {
                notFound.add(wanted.get((int) rows.getLong(1) - 1));
            }
        });
        pipeline.add(PlannerSettings.PIN);
        pipeline.flush();
        if (notFound.size() >= SetStatements.MAX_MISSING) {
            return Missing.REPLAY;
        }
        return oneByOne(relation, notFound);
    }

    private Missing oneByOne(BoundRelation relation, List<Wanted> wanted) throws SQLException {
        List<Tuple> missing = new ArrayList<>();
        for (Wanted row : wanted) {
            if (row.expectation() != Expectation.MAY_BE_MISSING) {
                return Missing.REPLAY;
            }
            if (exact.execute(relation, row.change()) != ChangeOutcome.APPLIED) {
                missing.add(row.search());
            }
        }
        return new Missing(missing, false);
    }
}
