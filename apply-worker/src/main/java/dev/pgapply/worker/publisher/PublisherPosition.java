package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.stats.SlotStatistics;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the publisher now and then how far it is and what the slot holds back, for display, and whether the publications still exist.
 * What it cannot learn it shows as unknown; only the receiver decides whether the publisher is there. {@link #refresh} is called on one thread, {@link #close} from any.
 */
public final class PublisherPosition implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PublisherPosition.class);

    private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();

    private final SubscriptionOptions options;
    private final PostgresConnections publisher;
    private final SubscriptionStats stats;
    private final Ticker ticker;

    private @Nullable PublisherCatalog catalog;
    private int major;
    private long askedAt;
    private volatile @Nullable Connection connection;
    private volatile boolean closed;

    public PublisherPosition(
            SubscriptionOptions options, PostgresConnections publisher, SubscriptionStats stats, Ticker ticker) {
        this.options = options;
        this.publisher = publisher;
        this.stats = stats;
        this.ticker = ticker;
        this.askedAt = ticker.nanos() - INTERVAL_NANOS;
    }

    /**
     * Asks, if it is time again. Failures are only logged.
     *
     * @throws ApplyException of kind PRECONDITION if a publication is missing
     */
    public void refresh() {
        if (closed || ticker.nanos() - askedAt < INTERVAL_NANOS) {
            return;
        }
        askedAt = ticker.nanos();
        try {
            PublisherCatalog asked = connected();
            stats.setPublisherFlushLsn(asked.flushLsn());
            ReplicationSlot slot = asked.slot(options.slotName(), major);
            if (slot != null) {
                stats.setSlot(slot.restartLsn(), slot.walStatus());
            }
            SlotStatistics counted = asked.slotStatistics(options.slotName());
            if (counted != null) {
                stats.setSlotStatistics(counted);
            }
            asked.requirePublications(options.publications());
        } catch (ApplyException e) {
            if (e.kind() == Kind.PRECONDITION) {
                throw e;
            }
            log.debug("could not ask the publisher for its position: {}", e.getMessage());
            disconnect();
        }
    }

    private PublisherCatalog connected() {
        PublisherCatalog known = catalog;
        if (known != null) {
            return known;
        }
        Connection opened = publisher.open("pgapply " + options.name() + " monitor");
        connection = opened;
        if (closed) {
            PostgresConnections.cut(opened);
        }
        PublisherCatalog made = new PublisherCatalog(opened);
        major = made.facts().major();
        catalog = made;
        return made;
    }

    private void disconnect() {
        catalog = null;
        stats.setPublisherFlushLsn(null);
        Connection open = connection;
        connection = null;
        if (open != null) {
            PostgresConnections.cut(open);
        }
    }

    @Override
    public void close() {
        closed = true;
        stats.setPublisherFlushLsn(null);
        Connection open = connection;
        if (open != null) {
            PostgresConnections.cut(open);
        }
    }
}
