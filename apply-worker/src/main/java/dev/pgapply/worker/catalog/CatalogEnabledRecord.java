package dev.pgapply.worker.catalog;

import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The subscription's row in schema {@code pgapply} of the target. Thread-safe. */
public final class CatalogEnabledRecord implements EnabledRecord {

    private final PostgresConnections target;
    private final SubscriptionCatalog catalog;
    private final String subscription;

    public CatalogEnabledRecord(PostgresConnections target, SubscriptionCatalog catalog, String subscription) {
        this.target = target;
        this.catalog = catalog;
        this.subscription = subscription;
    }

    @Override
    public State read() {
        try (Connection connection = open()) {
            SubscriptionRow row = catalog.find(connection, subscription);
            return row == null ? new State(true, null) : new State(row.enabled(), row.disabledReason());
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
    }

    @Override
    public boolean store(@Nullable String disabledReason) {
        try (Connection connection = open()) {
            SubscriptionRow row = catalog.find(connection, subscription);
            if (row == null) {
                return false;
            }
            if (disabledReason == null) {
                catalog.enable(connection, row.subid());
            } else {
                catalog.disable(connection, row.subid(), disabledReason);
            }
            return true;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session", e);
        }
    }

    private Connection open() {
        return target.openTarget("pgapply " + subscription + " control");
    }
}
