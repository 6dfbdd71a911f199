package dev.pgapply.worker.catalog;

import dev.pgapply.core.Lsn;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A subscription as {@code pgapply.subscription} has it: what it is, whatever the configuration says now.
 *
 * @param subid a random number below 2^31 that names the origin and the locks
 * @param disabledReason why it is disabled, for people; null while it is enabled
 * @param publisher which cluster and database it was made for
 * @param target which cluster and database it was made in
 * @param twoPhaseState whether prepared transactions are sent as such
 * @param consistentPoint where the slot begins and the first copy is consistent; null until the slot exists
 */
public record SubscriptionRow(
        int subid,
        String name,
        boolean enabled,
        @Nullable String disabledReason,
        SlotState slotState,
        String slotName,
        Publisher publisher,
        TargetIdentity target,
        TwoPhaseState twoPhaseState,
        @Nullable Lsn consistentPoint,
        Instant createdAt) {

    /** @param timeline the timeline that the subscription last followed */
    public record Publisher(String systemIdentifier, int timeline, String database) {}
}
