package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.CreatedTables;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.util.List;

/** {@code create_tables: missing} at a start, while nothing streams. Owned by the subscription's thread. */
final class FirstTableCreation {

    private final SubscriptionOptions options;
    private final SubscriptionStats stats;
    private final Ticker ticker;

    FirstTableCreation(SubscriptionOptions options, SubscriptionStats stats, Ticker ticker) {
        this.options = options;
        this.stats = stats;
        this.ticker = ticker;
    }

    private boolean isWanted() {
        return options.createTables() == CreateTables.MISSING;
    }

    /** Before the copy: those that are absent. */
    void create(int subid, Connection publisher, int major, Connection target, List<PublishedTable> published) {
        if (isWanted()) {
            List<QualifiedName> unused = new MissingTables(options, publisher, major, target)
                    .create(subid, published, new SchemaSteps(SubscriptionStatus.STARTING, stats, ticker));
        }
    }

    /**
     * What created tables get only now that their rows are there; also what a start that broke off has left to do. While a table's rows are
     * not there no foreign key is made, since one that points to it would be refused; they come with the start that finds all of them.
     */
    void complete(int subid, CopyConnections connections) {
        if (!isWanted()) {
            return;
        }
        Connection target = connections.openTarget();
        if (CreatedTables.read(target, subid).isEmpty()) {
            return;
        }
        Connection publisher = connections.openPublisher();
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        int major = catalog.facts().major();
        List<PublishedTable> published = catalog.tables(options.publications(), major);
        List<SubscriptionTable> known = new TableCatalog().tables(target, subid);
        List<QualifiedName> copied = known.stream()
                .filter(SubscriptionTable::isCopied)
                .map(SubscriptionTable::table)
                .toList();
        MissingTables missing = new MissingTables(options, publisher, major, target);
        SchemaSteps steps = new SchemaSteps(SubscriptionStatus.COPYING, stats, ticker);
        if (copied.size() == known.size()) {
            missing.complete(
                    subid,
                    published,
                    published.stream().map(PublishedTable::name).toList(),
                    steps);
        } else {
            missing.addIndexes(subid, published, copied, steps);
        }
    }
}
