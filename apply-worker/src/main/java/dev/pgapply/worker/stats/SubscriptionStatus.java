package dev.pgapply.worker.stats;

import java.util.Locale;

/**
 * What a subscription is doing, as REST, metrics and the command line show it.
 *
 * <pre>
 * starting → standby → starting
 * starting → waiting_for_slot → copying → catching_up ↔ streaming
 * starting → catching_up            (the tables are copied already)
 * any → reconnecting → starting     (a connection is lost: again with waits)
 * any → error → starting            (a change cannot be applied: again with waits)
 * any → error                       (only a person can mend it)
 * any → disabled → starting         (disable, disable_on_error; enable)
 * any → stopping
 * </pre>
 */
public enum SubscriptionStatus {
    STARTING,
    WAITING_FOR_SLOT,
    COPYING,
    CATCHING_UP,
    STREAMING,
    RECONNECTING,
    ERROR,
    DISABLED,
    STANDBY,
    STOPPING;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether {@code /health/ready} counts a subscription in this status as ready. */
    public boolean isReady() {
        return this == COPYING || this == CATCHING_UP || this == STREAMING || this == STANDBY;
    }
}
