package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublishedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks at both servers as a start would need them, and reports everything at once. It writes nothing and creates no slot; its sessions are
 * its own and short. Thread-safe: each run stands alone.
 */
public final class Preflight {

    private static final SubscriptionCatalog READ_ONLY = new SubscriptionCatalog(() -> {
        throw new ApplyException(Kind.INTERNAL, "a preflight creates no subscription");
    });

    private Preflight() {}

    /** Everything that was looked at, one line each; an error on one side does not hide those on the other. */
    public static List<Finding> run(SubscriptionOptions options) {
        Findings findings = new Findings();
        PostgresConnections publisher = new PostgresConnections(options.publisher());
        PostgresConnections target = new PostgresConnections(options.target());
        try (Session onPublisher = Session.open(publisher, options.name(), "publisher_connection", findings);
                Session onTarget = Session.open(target, options.name(), "target_connection", findings)) {
            SubscriptionRow row = onTarget == null ? null : find(onTarget.connection(), options, findings);
            List<PublishedTable> published = onPublisher == null
                    ? List.of()
                    : new PublisherCheck(options, publisher, onPublisher.connection(), findings).run(row);
            if (onTarget != null) {
                checkTarget(
                        options,
                        onPublisher == null ? null : onPublisher.connection(),
                        onTarget.connection(),
                        row,
                        published,
                        findings);
            }
        }
        return findings.toList();
    }

    private static @Nullable SubscriptionRow find(
            Connection connection, SubscriptionOptions options, Findings findings) {
        try {
            return READ_ONLY.find(connection, options.name());
        } catch (ApplyException e) {
            findings.error("target_schema", e);
            return null;
        }
    }

    private static void checkTarget(
            SubscriptionOptions options,
            @Nullable Connection publisher,
            Connection connection,
            @Nullable SubscriptionRow row,
            List<PublishedTable> published,
            Findings findings) {
        if (!new TargetCheck(options, connection, findings).run()) {
            return;
        }
        // The rows of a first copy that did not end are its own and will be taken back.
        boolean mustBeEmpty = options.copyData() && (row == null || row.slotState() == SlotState.NONE);
        findings.check("target_table", () -> {
            List<PublishedTable> present = options.createTables() == CreateTables.MISSING && publisher != null
                    ? new MissingTableCheck(options, publisher, connection, findings).run(published)
                    : published;
            TargetTableCheck check = TargetTableCheck.on(connection, present, mustBeEmpty, options.binary(), findings);
            present.forEach(table -> findings.check("target_table", () -> check.run(table)));
        });
    }

    /** A session of a preflight: a check that waits for somebody's lock is itself a finding. */
    private record Session(Connection connection) implements AutoCloseable {

        static @Nullable Session open(
                PostgresConnections connections, String subscription, String code, Findings findings) {
            try {
                Connection connection = connections.open("pgapply " + subscription + " check");
                CatalogQuestions.query(connection, "SELECT set_config('statement_timeout', '15s', false)");
                return new Session(connection);
            } catch (ApplyException e) {
                findings.error(code, e);
                return null;
            }
        }

        @Override
        public void close() {
            try {
                connection.close();
            } catch (SQLException e) {
                throw PostgresErrors.translate("could not close a session", e);
            }
        }
    }
}
