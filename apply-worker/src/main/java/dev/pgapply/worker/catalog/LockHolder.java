package dev.pgapply.worker.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A session that holds a lock of a subscription.
 *
 * @param address where it connects from; null for a local socket, and where the role may not see it
 */
public record LockHolder(
        int pid, @Nullable String applicationName, @Nullable String address) {

    /** For people: {@code pid 4711, "pgapply orders owner", from 10.0.0.7}. */
    @Override
    public String toString() {
        return "pid " + pid
                + (applicationName == null || applicationName.isEmpty() ? "" : ", \"" + applicationName + "\"")
                + (address == null ? "" : ", from " + address);
    }
}
