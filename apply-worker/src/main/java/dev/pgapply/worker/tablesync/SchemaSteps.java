package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.schema.SchemaPlan;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.schema.SchemaPlan.Statement;
import dev.pgapply.worker.schema.SchemaPlan.Step;
import dev.pgapply.worker.stats.CreationProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the steps of a plan on the target, each one in a transaction, and shows each in log and status. Owned by the thread that runs them. */
public final class SchemaSteps {

    private static final Logger log = LoggerFactory.getLogger(SchemaSteps.class);

    /** Somebody else has made it since the plan was made. */
    private static final Set<String> MADE_MEANWHILE = Set.of("42P06", "42P07", "42710", "23505");

    private final String subscription;
    private final @Nullable SubscriptionStatus status;
    private final SubscriptionStats stats;
    private final Ticker ticker;

    /** @param status what the subscription does meanwhile; the step becomes its reason */
    SchemaSteps(SubscriptionStatus status, SubscriptionStats stats, Ticker ticker) {
        this(stats, status, ticker);
    }

    private SchemaSteps(SubscriptionStats stats, @Nullable SubscriptionStatus status, Ticker ticker) {
        this.subscription = stats.subscription();
        this.status = status;
        this.stats = stats;
        this.ticker = ticker;
    }

    /** Steps of a table beside the stream, which leave the subscription's status alone. */
    static SchemaSteps beside(SubscriptionStats stats, Ticker ticker) {
        return new SchemaSteps(stats, null, ticker);
    }

    /** @param made told of each table in the transaction that makes it */
    void run(Connection target, SchemaPlan plan, Consumer<QualifiedName> made) {
        for (Problem problem : plan.problems()) {
            notCreated(problem.message() + (problem.hint() == null ? "" : " (hint: " + problem.hint() + ")"));
        }
        int total = plan.steps().size();
        for (int i = 0; i < total; i++) {
            Step step = plan.steps().get(i);
            int done = i;
            stats.updateCreation(now -> new CreationProgress(done, total, step.description(), now.notCreated()));
            if (status != null) {
                stats.transition(status, "creating " + step.description() + ", " + (i + 1) + " of " + total);
            }
            long start = ticker.nanos();
            if (run(target, step, made) && log.isInfoEnabled()) {
                log.info(
                        "subscription \"{}\": created {} ({} ms)",
                        subscription,
                        step.description(),
                        Duration.ofNanos(ticker.nanos() - start).toMillis());
            }
        }
        stats.updateCreation(now -> new CreationProgress(total, total, null, now.notCreated()));
    }

    /** Whether anything of it is there now. */
    private boolean run(Connection target, Step step, Consumer<QualifiedName> made) {
        try (java.sql.Statement statement = target.createStatement()) {
            // A brace in an expression is no escape of JDBC's.
            statement.setEscapeProcessing(false);
            statement.execute("BEGIN");
            boolean created = false;
            for (Statement part : step.statements()) {
                created |= run(statement, part);
            }
            step.tables().forEach(made);
            statement.execute("COMMIT");
            return created;
        } catch (SQLException e) {
            ApplyException reason = PostgresErrors.translate("could not create " + step.description(), e);
            rollBack(target, reason);
            throw MADE_MEANWHILE.contains(String.valueOf(e.getSQLState()))
                    ? new ApplyException(Kind.TRANSIENT, reason.getMessage(), reason.hint(), reason.sqlState(), null, e)
                    : reason;
        }
    }

    private boolean run(java.sql.Statement statement, Statement part) throws SQLException {
        String optional = part.optional();
        if (optional == null) {
            statement.execute(part.sql());
            return true;
        }
        statement.execute("SAVEPOINT optional");
        try {
            statement.execute(part.sql());
            statement.execute("RELEASE SAVEPOINT optional");
            return true;
        } catch (SQLException e) {
            ApplyException reason = PostgresErrors.translate("", e);
            if (reason.kind().remedy() == Remedy.RECONNECT) {
                throw e;
            }
            statement.execute("ROLLBACK TO SAVEPOINT optional");
            notCreated(optional + " was not created: " + reason.getMessage() + " (hint: the statement was: "
                    + part.sql() + ")");
            return false;
        }
    }

    /** Told once in the process's life. */
    private void notCreated(String what) {
        if (stats.creation().notCreated().contains(what)) {
            return;
        }
        log.warn("subscription \"{}\": {}", subscription, what);
        stats.updateCreation(now -> {
            List<String> all = new ArrayList<>(now.notCreated());
            all.add(what);
            return new CreationProgress(now.done(), now.total(), now.step(), all);
        });
    }

    private static void rollBack(Connection target, ApplyException reason) {
        try (java.sql.Statement statement = target.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
