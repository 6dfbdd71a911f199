package dev.pgapply.worker.jdbc;

import dev.pgapply.core.batch.Change;
import dev.pgapply.core.pgoutput.ColumnStatus;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.SearchKey;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.worker.jdbc.ExactStatements.Exact;
import dev.pgapply.worker.jdbc.ExactStatements.IdentityChange;
import dev.pgapply.worker.jdbc.ExactStatements.Value;
import dev.pgapply.worker.jdbc.RowTypes.RowType;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Executes single changes, one statement each. Owned by the session's thread; the session has an open transaction.
 */
final class ExactExecutor {

    private final StatementCache statements;
    private final TypeCatalog types;
    private final RowTypes rowTypes;
    private final Pipeline pipeline;

    ExactExecutor(StatementCache statements, TypeCatalog types, RowTypes rowTypes, Pipeline pipeline) {
        this.statements = statements;
        this.types = types;
        this.rowTypes = rowTypes;
        this.pipeline = pipeline;
    }

    ChangeOutcome execute(BoundRelation relation, Change change) throws SQLException {
        String rowType = rowType(relation, change);
        pipeline.flush();
        return switch (change.kind()) {
            case INSERT -> {
                // A BEFORE trigger may suppress the row; that is its business (execReplication.c,
                // ExecSimpleRelationInsert).
                run(relation, ExactStatements.insert(relation, Objects.requireNonNull(change.newTuple())));
                yield ChangeOutcome.APPLIED;
            }
            case UPDATE -> touched(relation, rowType, change) ? ChangeOutcome.APPLIED : ChangeOutcome.UPDATE_MISSING;
            case DELETE -> touched(relation, rowType, change) ? ChangeOutcome.APPLIED : ChangeOutcome.DELETE_MISSING;
        };
    }

    /** Whether the row was there. */
    private boolean touched(BoundRelation relation, @Nullable String rowType, Change change) throws SQLException {
        if (attempt(relation, rowType, change)) {
            return true;
        }
        // A concurrent local update may have moved the row away from under the search: the second statement sees it.
        if (rowType != null && attempt(relation, rowType, change)) {
            return true;
        }
        return relation.firesRowTriggers() && run(relation, ExactStatements.present(relation, rowType, change)) > 0;
    }

    private boolean attempt(BoundRelation relation, @Nullable String rowType, Change change) throws SQLException {
        if (change.kind() == Change.Kind.DELETE) {
            Tuple search = Objects.requireNonNull(change.searchTuple());
            return run(relation, ExactStatements.delete(relation, rowType, search)) > 0;
        }
        return switch (ExactStatements.identityChange(relation, change)) {
            case NONE -> run(relation, ExactStatements.update(relation, rowType, change, false)) > 0;
            case UNKNOWN ->
                run(relation, ExactStatements.update(relation, rowType, change, true)) > 0
                        || run(relation, ExactStatements.replace(relation, rowType, change)) > 0;
            case CHANGED -> run(relation, ExactStatements.replace(relation, rowType, change)) > 0;
        };
    }

    /** Who is told what an update or delete did not find. */
    interface Outcomes {

        /** The row of the change of that number in its list was not there. */
        void missing(int number);

        /** Whether it was there cannot be said: a trigger may have suppressed the change. */
        void unclear();
    }

    /**
     * Executes a list of changes in its order. A few go with what else is sent next, and {@code outcomes} is told by then; of many, those
     * that follow each other and share a statement are sent together.
     */
    void executeInOrder(BoundRelation relation, List<Change> changes, Outcomes outcomes) throws SQLException {
        if (changes.size() <= MAX_PIPELINED) {
            for (int i = 0; i < changes.size(); i++) {
                executeNext(relation, changes.get(i), i, outcomes);
            }
            return;
        }
        pipeline.flush();
        String sql = "";
        int first = 0;
        for (int i = 0; i < changes.size(); i++) {
            Change change = changes.get(i);
            Exact exact = batchable(relation, change);
            if (exact == null || !exact.sql().equals(sql) || i - first >= MAX_RUN) {
                finish(relation, sql, changes, first, i, outcomes);
                first = i;
                sql = exact == null ? "" : exact.sql();
            }
            if (exact == null) {
                executeAlone(relation, change, i, outcomes);
                first = i + 1;
                continue;
            }
            PreparedStatement statement = statements.get(sql, relation.variant());
            bind(statement, exact);
            statement.addBatch();
        }
        finish(relation, sql, changes, first, changes.size(), outcomes);
    }

    private void executeNext(BoundRelation relation, Change change, int number, Outcomes outcomes) throws SQLException {
        Exact exact = batchable(relation, change);
        if (exact == null) {
            executeAlone(relation, change, number, outcomes);
            return;
        }
        List<@Nullable Object> values = new ArrayList<>(exact.values().size());
        for (Value value : exact.values()) {
            values.add(parameter(value));
        }
        pipeline.add(
                exact.sql(),
                relation.variant(),
                values,
                (rows, count) -> report(relation, change, count, number, outcomes));
    }

    private void executeAlone(BoundRelation relation, Change change, int number, Outcomes outcomes)
            throws SQLException {
        if (execute(relation, change) != ChangeOutcome.APPLIED) {
            outcomes.missing(number);
        }
    }

    private static void report(BoundRelation relation, Change change, int count, int number, Outcomes outcomes) {
        if (count > 0 || change.kind() == Change.Kind.INSERT) {
            return;
        }
        if (relation.firesRowTriggers()) {
            outcomes.unclear();
        } else {
            outcomes.missing(number);
        }
    }

    /** More changes than these are worth a statement's own exchange; each combination of fewer is prepared as one text. */
    private static final int MAX_PIPELINED = 4;

    /** The driver keeps the values of a run in memory until it is sent. */
    private static final int MAX_RUN = 1_000;

    /** The statement of a change that is nothing but its statement; null if it takes more than one or a look at its outcome. */
    private @Nullable Exact batchable(BoundRelation relation, Change change) {
        if (relation.entry().key().kind() == SearchKey.Kind.FULL_ROW && change.kind() != Change.Kind.INSERT) {
            return null;
        }
        return switch (change.kind()) {
            case INSERT -> ExactStatements.insert(relation, Objects.requireNonNull(change.newTuple()));
            case DELETE -> ExactStatements.delete(relation, null, Objects.requireNonNull(change.searchTuple()));
            case UPDATE -> {
                Exact exact = ExactStatements.identityChange(relation, change) == IdentityChange.NONE
                        ? ExactStatements.update(relation, null, change, false)
                        : null;
                yield exact != null && exact.sql().startsWith("UPDATE") ? exact : null;
            }
        };
    }

    /** Sends the run of changes from the first number to before the end. */
    private void finish(BoundRelation relation, String sql, List<Change> changes, int first, int end, Outcomes outcomes)
            throws SQLException {
        if (first == end) {
            return;
        }
        int[] counts = statements.get(sql, relation.variant()).executeBatch();
        for (int i = first; i < end; i++) {
            report(relation, changes.get(i), counts[i - first], i, outcomes);
        }
    }

    private @Nullable String rowType(BoundRelation relation, Change change) throws SQLException {
        if (relation.entry().key().kind() != SearchKey.Kind.FULL_ROW || change.kind() == Change.Kind.INSERT) {
            return null;
        }
        RowType type = rowTypes.of(relation);
        if (type.create() != null) {
            pipeline.add(type.create());
        }
        return type.name();
    }

    private int run(BoundRelation relation, Exact exact) throws SQLException {
        PreparedStatement statement = statements.get(exact.sql(), relation.variant());
        bind(statement, exact);
        try {
            if (!statement.execute()) {
                return statement.getUpdateCount();
            }
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? row.getInt(1) : 0;
            }
        } catch (SQLException e) {
            throw FailedValue.named(e, exact.values());
        }
    }

    private void bind(PreparedStatement statement, Exact exact) throws SQLException {
        for (int i = 0; i < exact.values().size(); i++) {
            Object parameter = parameter(exact.values().get(i));
            if (parameter == null) {
                statement.setNull(i + 1, Types.NULL);
            } else if (parameter instanceof String text) {
                statement.setString(i + 1, text);
            } else {
                statement.setObject(i + 1, parameter);
            }
        }
    }

    /** What the driver is given for the value: text as a string of no declared type, binary as {@link ValueParameter}. */
    private @Nullable Object parameter(Value value) throws SQLException {
        Tuple row = value.row();
        int column = value.column().remote();
        if (!row.hasValue(column)) {
            return null;
        }
        if (row.status(column) == ColumnStatus.BINARY) {
            TypeFacts sent = types.facts(value.column().binaryType());
            if (sent != null && !sent.sentAsText() && row.valueLength(column) > 0) {
                types.registerBinary(sent.driverName());
                return new ValueParameter(sent.driverName(), row, column);
            }
        }
        return new String(row.buffer(column), row.valueOffset(column), row.valueLength(column), StandardCharsets.UTF_8);
    }
}
