package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.catalog.ControlSession;
import dev.pgapply.worker.catalog.SubscriptionIdentity;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TwoPhaseState;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherFacts;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.publisher.ReplicationSlot;
import dev.pgapply.worker.publisher.ReplicationSlots;
import dev.pgapply.worker.publisher.TimelineHistory;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether and where a subscription may begin to stream: the target's record against the publisher and its slot. Used once a
 * life, by the leader's thread, after the takeover.
 */
public final class StreamStartCheck {

    private static final Logger log = LoggerFactory.getLogger(StreamStartCheck.class);

    private final SubscriptionOptions options;
    private final PostgresConnections publisher;
    private final SubscriptionStats stats;
    private final StreamFallback fallback;

    /** @param fallback the subscription's own, over all its lives in this process */
    public StreamStartCheck(
            SubscriptionOptions options,
            PostgresConnections publisher,
            SubscriptionStats stats,
            StreamFallback fallback) {
        this.options = options;
        this.publisher = publisher;
        this.stats = stats;
        this.fallback = fallback;
    }

    /**
     * Where the target stands, by its row alone, and whether the publisher still is what it stands on.
     *
     * @throws ApplyException of kind SLOT_LOST, STATE_MISMATCH or PRECONDITION if to go on would lose or double changes
     */
    public StreamStart check(ControlSession control, SubscriptionRow row) {
        OriginStatus recorded = control.originStatus(row);
        boolean twoPhase;
        PublisherFacts facts;
        Lsn publisherLsn;
        boolean binary;
        try (Connection connection = publisher.open("pgapply " + options.name() + " start")) {
            PublisherCatalog publisherCatalog = new PublisherCatalog(connection);
            facts = publisherCatalog.facts();
            facts.requireUsable();
            if (options.twoPhase()) {
                facts.requireTwoPhase();
                requirePreparedTransactions(control.maxPreparedTransactions());
            }
            checkIdentity(control, row, recorded);
            ReplicationSlot slot = publisherCatalog.slot(row.slotName(), facts.major());
            if (slot == null) {
                throw ApplyException.withHint(
                        Kind.SLOT_LOST,
                        "replication slot \"" + row.slotName() + "\" does not exist on the publisher; changes behind "
                                + recorded.startLsn() + " are lost",
                        "it was dropped: drop the subscription, empty its tables and start it anew; no slot is created silently");
            }
            slot.requireUsable(options.twoPhase());
            Lsn confirmed = slot.confirmedFlushLsn();
            if (confirmed != null) {
                SubscriptionIdentity.checkSlot(row, recorded, confirmed);
            }
            publisherCatalog.requirePublications(options.publications());
            new ReplicationSlots(publisher, options.name())
                    .endOwnWalsender(publisherCatalog, connection, row.slotName(), facts.major());
            ReplicationSlots.endTemporary(connection, row.subid());
            binary =
                    BinaryChoice.make(options, fallback, recorded.startLsn(), publisherCatalog, facts.major(), control);
            publisherLsn = publisherCatalog.flushLsn();
            control.setReady(row, recorded.startLsn());
            twoPhase = handOver(control, row, slot.twoPhase());
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session on the publisher", e);
        }
        return new StreamStart(
                row.subid(),
                recorded.startLsn(),
                subscribedTables(control, row),
                facts,
                publisherLsn,
                twoPhase,
                binary);
    }

    /** Records the state of two_phase, before the stream is asked for with it; true if it is. */
    private boolean handOver(ControlSession control, SubscriptionRow row, boolean slotTwoPhase) {
        boolean allReady = control.tables(row).stream().allMatch(table -> table.state() == TableSyncState.READY);
        TwoPhaseState state = row.twoPhaseState().atStart(options.twoPhase(), slotTwoPhase, allReady);
        if (state != row.twoPhaseState()) {
            control.setTwoPhaseState(row, state);
            log.info(
                    "subscription \"{}\": two_phase goes from {} to {}",
                    row.name(),
                    row.twoPhaseState().label(),
                    state.label());
        }
        return state == TwoPhaseState.ENABLED;
    }

    /** @param limit the target's max_prepared_transactions */
    static void requirePreparedTransactions(int limit) {
        if (limit == 0) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "the target's max_prepared_transactions is 0, so nothing can be prepared there, and two_phase is true",
                    "raise max_prepared_transactions to at least the publisher's and restart the target, or set two_phase: false");
        }
    }

    private void checkIdentity(ControlSession control, SubscriptionRow row, OriginStatus recorded) {
        try (Connection replication = publisher.openReplication(options.name())) {
            PublisherIdentity identity = PublisherIdentity.of(replication);
            SubscriptionIdentity.checkPublisher(row, identity, options.slotName());
            TimelineHistory history = TimelineHistory.read(replication, identity.timeline());
            SubscriptionIdentity.checkProgress(row, recorded, identity, history);
            if (identity.timeline() != row.publisher().timeline()) {
                control.setTimeline(row, identity.timeline());
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a session on the publisher", e);
        }
    }

    private SubscribedTables subscribedTables(ControlSession control, SubscriptionRow row) {
        List<SubscriptionTable> tables = control.tables(row);
        for (SubscriptionTable table : tables) {
            stats.setTable(table.progress());
        }
        return ControlSession.subscribed(tables);
    }
}
