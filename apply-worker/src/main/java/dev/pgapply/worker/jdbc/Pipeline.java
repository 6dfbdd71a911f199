package dev.pgapply.worker.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statements that go to the server in one message and are answered in one round trip: the driver sends the parts of one prepared text
 * one behind the other, with a single Sync. Owned by the session's thread.
 *
 * <p>Behind an error the server skips the rest, so that nothing of a failed message stays but what came before it in the transaction,
 * which is then rolled back.
 *
 * <p>No result but the first's may have a column without a limit to its length, such as text: the driver waits for all answers before it
 * sends a statement whose answer might be long (QueryExecutorImpl.java, flushIfDeadlockRisk), which costs a round trip.
 */
public final class Pipeline {

    /** Reads one statement's result. */
    @FunctionalInterface
    public interface Result {
        /**
         * @param rows what a query returned, else null
         * @param count the rows that a command touched
         */
        void read(@Nullable ResultSet rows, int count) throws SQLException;
    }

    private static final Result IGNORED = (rows, count) -> {};

    /**
     * A longer message gains nothing, and each combination of statements is prepared as one text.
     */
    private static final int MAX_STATEMENTS = 16;

    private final StatementCache statements;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder variant = new StringBuilder();
    private final List<@Nullable Object> parameters = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();

    Pipeline(StatementCache statements) {
        this.statements = statements;
    }

    /** One with statements of its own. */
    public Pipeline(Connection connection) {
        this(new StatementCache(connection));
    }

    boolean isEmpty() {
        return results.isEmpty();
    }

    /** Whether so many more statements go with the same message. */
    boolean hasRoomFor(int count) {
        return results.size() + count <= MAX_STATEMENTS;
    }

    /** Adds a statement without parameters whose result nobody reads. */
    public void add(String sql) throws SQLException {
        add(sql, List.of());
    }

    void addAll(List<String> statements) throws SQLException {
        for (String sql : statements) {
            add(sql);
        }
    }

    /** Adds a statement whose result nobody reads. */
    public void add(String sql, List<?> values) throws SQLException {
        add(sql, values, IGNORED);
    }

    /** @param values one for each question mark, in order; each an {@link ArrayParameter}, a {@code Long} or a {@code String} */
    public void add(String sql, List<?> values, Result result) throws SQLException {
        add(sql, "", values, result);
    }

    /**
     * @param typesVariant tells apart statements of the same text whose parameters have other types
     * @param values one for each question mark, in order; also a {@link ValueParameter}, or null
     */
    void add(String sql, String typesVariant, List<? extends @Nullable Object> values, Result result)
            throws SQLException {
        if (results.size() >= MAX_STATEMENTS) {
            flush();
        }
        if (!text.isEmpty()) {
            text.append(";\n");
        }
        text.append(sql);
        variant.append(typesVariant);
        parameters.addAll(values);
        results.add(result);
    }

    /** Sends what was added and reads the answers. */
    void flush() throws SQLException {
        if (isEmpty()) {
            return;
        }
        List<Result> expected = List.copyOf(results);
        try {
            PreparedStatement statement = statements.get(text.toString(), variant.toString());
            for (int i = 0; i < parameters.size(); i++) {
                bind(statement, i + 1, parameters.get(i));
            }
            boolean isQuery = statement.execute();
            statement.clearParameters();
            for (int i = 0; i < expected.size(); i++) {
                if (i > 0) {
                    isQuery = statement.getMoreResults();
                }
                try (ResultSet rows = isQuery ? statement.getResultSet() : null) {
                    expected.get(i).read(rows, isQuery ? 0 : statement.getUpdateCount());
                }
            }
        } finally {
            discard();
        }
    }

    /** Forgets what was not sent. */
    void discard() {
        text.setLength(0);
        variant.setLength(0);
        parameters.clear();
        results.clear();
    }

    private static void bind(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
        if (value == null) {
            statement.setNull(index, Types.NULL);
        } else if (value instanceof Long number) {
            statement.setLong(index, number);
        } else if (value instanceof String string) {
            statement.setString(index, string);
        } else {
            statement.setObject(index, value);
        }
    }
}
