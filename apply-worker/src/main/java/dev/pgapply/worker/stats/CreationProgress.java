package dev.pgapply.worker.stats;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where {@code create_tables} stands in what it makes on the target.
 *
 * @param step what is being made, for people; null when nothing is
 * @param done steps of the total
 * @param notCreated what the tables do without, and why; over the process's life
 */
public record CreationProgress(
        int done, int total, @Nullable String step, List<String> notCreated) {

    /** Nothing to create so far. */
    public static final CreationProgress NONE = new CreationProgress(0, 0, null, List.of());

    public CreationProgress {
        notCreated = List.copyOf(notCreated);
    }
}
