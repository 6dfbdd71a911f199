package dev.pgapply.worker.publisher;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The oldest transaction that keeps a slot from being created, as far as the role may see it.
 *
 * @param xid its transaction id, as text
 * @param pid null for a prepared transaction
 * @param gid the prepared transaction's name, or null
 * @param running how many transactions run or are prepared on the publisher, this one among them
 */
public record BlockingTransaction(
        String xid,
        @Nullable Integer pid,
        @Nullable String gid,
        @Nullable String user,
        @Nullable String database,
        @Nullable Duration age,
        @Nullable String query,
        int running) {

    private static final int SHOWN_QUERY_LENGTH = 120;

    /** The reason of status waiting_for_slot, for people. */
    public String sentence() {
        StringBuilder text = new StringBuilder("waiting for ")
                .append(gid == null ? "transaction " + xid + " of pid " + pid : "prepared transaction \"" + gid + "\"")
                .append(" before the slot can be created (");
        if (user != null) {
            text.append("user \"").append(user).append("\", ");
        }
        if (database != null) {
            text.append("database \"").append(database).append("\", ");
        }
        if (age != null) {
            text.append("open for ").append(age.toSeconds()).append(" s, ");
        }
        if (query != null && !query.isBlank()) {
            String line = query.strip().replaceAll("\\s+", " ");
            text.append("query: ")
                    .append(line.length() > SHOWN_QUERY_LENGTH ? line.substring(0, SHOWN_QUERY_LENGTH) + "…" : line)
                    .append(", ");
        }
        return text.append(running)
                .append(running == 1 ? " transaction runs)" : " transactions run)")
                .toString();
    }
}
