package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.schema.SequenceValue;
import dev.pgapply.worker.tablesync.SequenceOutcome.Result;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Brings the target's sequences to where the publisher's stand, for the cut-over: every sequence of the publisher's database that the
 * target has by the same name, or as the sequence of the same column. It needs neither a slot nor an engine and can be repeated. Used
 * once, on one thread.
 */
public final class SequenceCopy {

    /** Those of extensions, of other sessions and of pgapply are nobody's to move. */
    private static final String SEQUENCES = """
            SELECT n.nspname, c.relname, q.seqincrement, q.seqmin, q.seqmax, tn.nspname, t.relname, a.attname
            FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_depend o ON o.classid = 'pg_class'::regclass AND o.objid = c.oid
                AND o.refclassid = 'pg_class'::regclass AND o.refobjsubid > 0 AND o.deptype IN ('a', 'i')
            LEFT JOIN pg_class t ON t.oid = o.refobjid
            LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
            LEFT JOIN pg_attribute a ON a.attrelid = o.refobjid AND a.attnum = o.refobjsubid
            WHERE c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pgapply')
                AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid
                    AND e.deptype = 'e')
            ORDER BY n.nspname, c.relname
            """;

    /** A sequence as its catalog row has it; {@code column} is null for one that no column owns. */
    private record Sequence(
            QualifiedName name,
            long increment,
            long min,
            long max,
            @Nullable Column column) {}

    private record Column(QualifiedName table, String name) {}

    private final SubscriptionOptions options;
    private final long margin;

    /** @param margin how many steps of each sequence to skip, not negative */
    public SequenceCopy(SubscriptionOptions options, long margin) {
        this.options = options;
        this.margin = margin;
    }

    /** All sequences of the publisher, by name; one that fails does not stop the others. */
    public List<SequenceOutcome> run() {
        String application = "pgapply " + options.name() + " sequences";
        try (Connection publisher = new PostgresConnections(options.publisher()).open(application);
                Connection target = new PostgresConnections(options.target()).openTarget(application)) {
            Map<QualifiedName, Sequence> byName = new LinkedHashMap<>();
            Map<Column, Sequence> byColumn = new LinkedHashMap<>();
            for (Sequence sequence : read(target)) {
                byName.put(sequence.name(), sequence);
                if (sequence.column() != null) {
                    byColumn.put(sequence.column(), sequence);
                }
            }
            List<SequenceOutcome> outcomes = new ArrayList<>();
            for (Sequence sequence : read(publisher)) {
                Sequence same = byName.get(sequence.name());
                if (same == null && sequence.column() != null) {
                    same = byColumn.get(sequence.column());
                }
                outcomes.add(same == null ? absent(sequence) : follow(publisher, sequence, target, same));
            }
            return outcomes;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
    }

    private static List<Sequence> read(Connection connection) {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SEQUENCES)) {
            List<Sequence> sequences = new ArrayList<>();
            while (row.next()) {
                String column = row.getString(8);
                sequences.add(new Sequence(
                        new QualifiedName(row.getString(1), row.getString(2)),
                        row.getLong(3),
                        row.getLong(4),
                        row.getLong(5),
                        column == null
                                ? null
                                : new Column(new QualifiedName(row.getString(6), row.getString(7)), column)));
            }
            return sequences;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the sequences", e);
        }
    }

    private static SequenceOutcome absent(Sequence sequence) {
        return new SequenceOutcome(
                sequence.name(), null, Result.ABSENT, null, null, "the target has no such sequence", null);
    }

    private SequenceOutcome follow(Connection publisher, Sequence sequence, Connection target, Sequence local) {
        SequenceValue wanted;
        try {
            wanted = value(publisher, sequence);
        } catch (SQLException e) {
            return failed(sequence, local, "the publisher does not let it be read", "GRANT SELECT on it there", e);
        }
        try {
            SequenceValue before = value(target, local);
            SequenceValue.Move move = before.follow(wanted, margin);
            SequenceValue after = move.value();
            return switch (move.action()) {
                case SET -> {
                    set(target, local, after);
                    yield outcome(sequence, local, Result.SET, after, before, null);
                }
                case UNCHANGED -> outcome(sequence, local, Result.UNCHANGED, after, before, null);
                case AHEAD ->
                    outcome(
                            sequence,
                            local,
                            Result.AHEAD,
                            after,
                            before,
                            "further on than the publisher's " + wanted.next() + ", so it stays");
                case OUT_OF_RANGE ->
                    outcome(
                            sequence,
                            local,
                            Result.FAILED,
                            after,
                            before,
                            "the publisher's value " + wanted.lastValue() + " is not between the target's "
                                    + local.min() + " and " + local.max());
                case OTHER_DIRECTION ->
                    outcome(
                            sequence,
                            local,
                            Result.FAILED,
                            after,
                            before,
                            "its increment is " + wanted.increment() + " on the publisher and " + before.increment()
                                    + " on the target");
            };
        } catch (SQLException e) {
            return failed(sequence, local, "the target does not let it be set", "GRANT SELECT, UPDATE on it there", e);
        }
    }

    private static SequenceOutcome outcome(
            Sequence sequence,
            Sequence local,
            Result result,
            SequenceValue after,
            SequenceValue before,
            @Nullable String message) {
        return new SequenceOutcome(
                sequence.name(),
                local.name(),
                result,
                after.next().toString(),
                before.next().toString(),
                message,
                null);
    }

    /** A lost connection fails the whole command; anything else is about this sequence. */
    private static SequenceOutcome failed(Sequence sequence, Sequence local, String what, String hint, SQLException e) {
        if (PostgresErrors.isConnectionLost(e)) {
            throw PostgresErrors.translate(what, e);
        }
        String message = what + ": " + PostgresErrors.translate("", e).getMessage();
        return new SequenceOutcome(sequence.name(), local.name(), Result.FAILED, null, null, message, hint);
    }

    /** From the sequence itself: pg_sequences does not tell what setval has put there without handing it out. */
    private static SequenceValue value(Connection connection, Sequence sequence) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT last_value, is_called FROM " + Identifiers.quote(sequence.name()))) {
            row.next();
            return new SequenceValue(
                    row.getLong(1), row.getBoolean(2), sequence.increment(), sequence.min(), sequence.max());
        }
    }

    private static void set(Connection target, Sequence sequence, SequenceValue value) throws SQLException {
        try (PreparedStatement statement = target.prepareStatement("SELECT setval(?::text::regclass, ?, ?)")) {
            statement.setString(1, Identifiers.quote(sequence.name()));
            statement.setLong(2, value.lastValue());
            statement.setBoolean(3, value.called());
            statement.execute();
        }
    }
}
