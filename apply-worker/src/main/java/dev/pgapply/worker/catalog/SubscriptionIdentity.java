package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.publisher.TimelineHistory;

/**
 * Whether what the configuration reaches is what the subscription was made for, and whether its record and the publisher's WAL still belong
 * together. Each check throws {@link ApplyException} of kind STATE_MISMATCH that names both values: to go on would lose or double
 * transactions silently. Stateless.
 */
public final class SubscriptionIdentity {

    private static final String ANEW = "if it is meant to follow this one now, drop the subscription and start it anew";

    private SubscriptionIdentity() {}

    /** The publisher's cluster and database, and the slot. */
    public static void checkPublisher(SubscriptionRow row, PublisherIdentity publisher, String slotName) {
        SubscriptionRow.Publisher recorded = row.publisher();
        if (!recorded.systemIdentifier().equals(publisher.systemIdentifier())) {
            throw mismatch(
                    row,
                    "follows the publisher with system identifier " + recorded.systemIdentifier(),
                    "the configuration reaches " + publisher.systemIdentifier());
        }
        if (!recorded.database().equals(publisher.database())) {
            throw mismatch(
                    row,
                    "follows database \"" + recorded.database() + "\" of its publisher",
                    "the configuration reaches \"" + publisher.database() + "\"");
        }
        if (!row.slotName().equals(slotName)) {
            throw mismatch(row, "uses slot \"" + row.slotName() + "\"", "the configuration says \"" + slotName + "\"");
        }
    }

    /** The target's cluster and database. */
    public static void checkTarget(SubscriptionRow row, TargetIdentity target) {
        String recorded = row.target().systemIdentifier();
        String actual = target.systemIdentifier();
        if (recorded != null && actual != null && !recorded.equals(actual)) {
            throw clone(row, "system identifier " + recorded, "system identifier " + actual);
        }
        if (row.target().databaseOid() != target.databaseOid()) {
            throw clone(row, "database oid " + row.target().databaseOid(), "database oid " + target.databaseOid());
        }
    }

    /** The record against the publisher's WAL. Once this returns, the publisher's timeline may be recorded. */
    public static void checkProgress(
            SubscriptionRow row, OriginStatus recorded, PublisherIdentity publisher, TimelineHistory history) {
        Lsn startLsn = recorded.startLsn();
        int timeline = publisher.timeline();
        int recordedTimeline = row.publisher().timeline();
        if (timeline != recordedTimeline) {
            Lsn branchPoint = history.branchPoint(recordedTimeline);
            if (branchPoint == null) {
                throw mismatch(
                        row,
                        "follows timeline " + recordedTimeline + " of its publisher",
                        "the publisher is on timeline " + timeline + ", which does not descend from it");
            }
            if (branchPoint.isBefore(startLsn)) {
                throw mismatch(
                        row,
                        "stands at " + startLsn + " of timeline " + recordedTimeline,
                        "timeline " + timeline + " of the publisher branched off at " + branchPoint + ", "
                                + startLsn.bytesSince(branchPoint)
                                + " bytes before: the target has transactions that the publisher lost");
            }
        }
        if (publisher.walLsn().isBefore(startLsn)) {
            throw mismatch(
                    row,
                    "stands at " + startLsn,
                    "the publisher has only come to " + publisher.walLsn() + ", "
                            + startLsn.bytesSince(publisher.walLsn())
                            + " bytes before: it was restored to an earlier state, or is another server");
        }
    }

    /** The record against what the slot has confirmed: a server silently continues behind such a gap. */
    public static void checkSlot(SubscriptionRow row, OriginStatus recorded, Lsn confirmedFlushLsn) {
        Lsn startLsn = recorded.startLsn();
        if (confirmedFlushLsn.isAfter(startLsn)) {
            throw ApplyException.withHint(
                    Kind.STATE_MISMATCH,
                    "subscription \"" + row.name() + "\" stands at " + startLsn + " in the target, but its slot \""
                            + row.slotName()
                            + "\" has confirmed " + confirmedFlushLsn + ": the changes of "
                            + confirmedFlushLsn.bytesSince(startLsn)
                            + " bytes of WAL are missing from the target and will not be sent again",
                    "the target was restored or failed over to an earlier state, or somebody else used the slot: drop the"
                            + " subscription, empty its tables and start it anew");
        }
    }

    private static ApplyException mismatch(SubscriptionRow row, String recorded, String actual) {
        return ApplyException.withHint(
                Kind.STATE_MISMATCH, "subscription \"" + row.name() + "\" " + recorded + ", but " + actual, ANEW);
    }

    private static ApplyException clone(SubscriptionRow row, String recorded, String actual) {
        return ApplyException.withHint(
                Kind.STATE_MISMATCH,
                "subscription \"" + row.name() + "\" was made in the target with " + recorded + ", but this one has "
                        + actual,
                "this target is a copy of the one that the subscription feeds; if the copy replaces it for good, drop the subscription"
                        + " and start it anew, else point the configuration at the original");
    }
}
