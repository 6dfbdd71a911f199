package dev.pgapply.worker.catalog;

import org.jspecify.annotations.Nullable;

/**
 * Where it is kept, across restarts, that a subscription is disabled: its row in the target. Each call opens a short session of its
 * own and fails like any connection does.
 */
public interface EnabledRecord {

    /** @param reason why it is disabled, for people */
    record State(boolean enabled, @Nullable String reason) {}

    /** Enabled where the target knows nothing of the subscription yet. */
    State read();

    /**
     * Records it durably.
     *
     * @param disabledReason null to enable
     * @return false if the target knows nothing of the subscription yet, so that nothing could be recorded
     */
    boolean store(@Nullable String disabledReason);
}
