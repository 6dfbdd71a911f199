package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.publisher.PublishedMemberships;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the publisher, over a session of its own that is opened when needed, which tables it publishes and whether those of the subscription
 * have been published without a gap. Owned by the thread of {@link TableSync}.
 */
final class PublisherTables implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PublisherTables.class);

    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();

    private final TableSyncContext context;
    private final TableCatalog record = new TableCatalog();

    private @Nullable Connection connection;
    private int major;
    private long askedAt;

    PublisherTables(TableSyncContext context) {
        this.context = context;
        this.askedAt = context.ticker().nanos() - INTERVAL_NANOS;
    }

    /** The names of all tables that the publications send now. */
    Set<QualifiedName> names() {
        try {
            PublisherCatalog catalog = new PublisherCatalog(connected());
            // Without its publication a table would be taken for one that has left.
            catalog.requirePublications(context.options().publications());
            Set<QualifiedName> names = new HashSet<>();
            catalog.tables(context.options().publications(), major).forEach(table -> names.add(table.name()));
            return names;
        } catch (ApplyException e) {
            disconnect();
            throw e;
        }
    }

    /**
     * The copied tables that were taken out of the publications and put back, or made anew, since they were copied, and what to say of each.
     * Asks every few seconds only. A publisher that does not answer is asked again then.
     *
     * @param target where it is recorded as what the tables were published
     */
    Map<QualifiedName, String> interrupted(Connection target, List<SubscriptionTable> tables) {
        long now = context.ticker().nanos();
        if (!context.options().copyData() || now - askedAt < INTERVAL_NANOS) {
            return Map.of();
        }
        askedAt = now;
        Map<QualifiedName, Publishing> current;
        try {
            Connection open = connected();
            List<PublishedTable> published =
                    new PublisherCatalog(open).tables(context.options().publications(), major);
            current = new PublishedMemberships(open, major)
                    .read(published, context.options().publications().toArray(String[]::new));
        } catch (ApplyException e) {
            log.debug("could not ask the publisher for its tables: {}", e.getMessage());
            disconnect();
            return Map.of();
        }
        return compare(target, tables, current);
    }

    private Map<QualifiedName, String> compare(
            Connection target, List<SubscriptionTable> tables, Map<QualifiedName, Publishing> current) {
        Map<QualifiedName, Publishing> recorded = record.publishing(target, context.subid());
        Map<QualifiedName, String> broken = new LinkedHashMap<>();
        for (SubscriptionTable table : tables) {
            QualifiedName name = table.table();
            Publishing now = current.get(name);
            if (now == null || (table.state() != TableSyncState.SYNCDONE && table.state() != TableSyncState.READY)) {
                continue;
            }
            Publishing earlier = recorded.get(name);
            if (earlier == null) {
                record.setPublishing(target, context.subid(), name, now);
            } else if (!now.isContinuationOf(earlier)) {
                broken.put(name, reason(earlier, now));
            } else if (!now.equals(earlier)) {
                record.setPublishing(target, context.subid(), name, now);
            }
        }
        return broken;
    }

    private static String reason(Publishing earlier, Publishing now) {
        String what = earlier.relation().equals(now.relation())
                ? "it was taken out of the publications and put back, and changes in between were not sent"
                : "it was dropped on the publisher and made anew";
        return what
                + "; no more changes are applied to it until it is redone; hint: resync the table, which empties and copies it";
    }

    private Connection connected() {
        Connection open = connection;
        if (open == null) {
            open = context.publisher().open("pgapply " + context.options().name() + " tablesync");
            connection = open;
            major = new PublisherCatalog(open).facts().major();
        }
        return open;
    }

    private void disconnect() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            PostgresConnections.cut(open);
        }
    }

    @Override
    public void close() {
        disconnect();
    }
}
