package dev.pgapply.core.tablesync;

import dev.pgapply.core.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a slot's creation is waiting for. Immutable.
 *
 * @param table whose copy the slot is for; null: the subscription's own slot
 * @param phase an estimate from outside
 * @param waitedFor how many transactions must end before the phase does
 * @param oldest the oldest of them, oldest first; not all where there are many
 */
public record SlotWaitState(
        @Nullable QualifiedName table, SnapshotBuildPhase phase, int waitedFor, List<BlockingTransaction> oldest) {

    public SlotWaitState {
        oldest = List.copyOf(oldest);
    }

    /** The reason of status waiting_for_slot, for people. */
    public String sentence() {
        if (oldest.isEmpty()) {
            return "the publisher is creating the slot (" + phase + ")";
        }
        BlockingTransaction first = oldest.get(0);
        StringBuilder text =
                new StringBuilder("waiting for ").append(first.subject()).append(" before the slot can be created (");
        if (first.user() != null) {
            text.append("user \"").append(first.user()).append("\", ");
        }
        if (first.database() != null) {
            text.append("database \"").append(first.database()).append("\", ");
        }
        if (first.age() != null) {
            text.append("open for ").append(first.age().toSeconds()).append(" s, ");
        }
        if (first.shownQuery() != null) {
            text.append("query: ").append(first.shownQuery()).append(", ");
        }
        return text.append(waitedFor)
                .append(waitedFor == 1 ? " transaction" : " transactions")
                .append(" to end, ")
                .append(phase)
                .append(")")
                .toString();
    }
}
