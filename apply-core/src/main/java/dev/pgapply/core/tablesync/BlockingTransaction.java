package dev.pgapply.core.tablesync;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A transaction that keeps a slot from being created, as far as the role may see it.
 *
 * @param xid its full transaction id
 * @param pid null for a prepared transaction
 * @param gid the prepared transaction's name, or null
 * @param age since it began, or was prepared
 */
public record BlockingTransaction(
        long xid,
        @Nullable Integer pid,
        @Nullable String gid,
        @Nullable String user,
        @Nullable String database,
        @Nullable Duration age,
        @Nullable String query) {

    private static final int SHOWN_QUERY_LENGTH = 120;

    /** The 32-bit id, as the publisher's views and logs show it. */
    public String shownXid() {
        return Integer.toUnsignedString((int) xid);
    }

    /** {@code transaction 731 of pid 4711}, or the prepared transaction's name. */
    public String subject() {
        return gid == null ? "transaction " + shownXid() + " of pid " + pid : "prepared transaction \"" + gid + "\"";
    }

    /** The query in one line, shortened; null where the role may not see it. */
    public @Nullable String shownQuery() {
        if (query == null || query.isBlank()) {
            return null;
        }
        String line = query.strip().replaceAll("\\s+", " ");
        return line.length() > SHOWN_QUERY_LENGTH ? line.substring(0, SHOWN_QUERY_LENGTH) + "…" : line;
    }
}
