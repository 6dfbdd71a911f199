package dev.pgapply.core.batch;

import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;

/**
 * A TRUNCATE of all its relations by one command; CASCADE of the publisher is never repeated (worker.c, apply_handle_truncate).
 *
 * @param inPart whether the publisher's command may have named other tables too: one of them may be what a foreign key here points from, so
 *     that a TRUNCATE without it is refused and the rows have to be deleted
 */
public record Truncation(List<RelationMapEntry> relations, boolean restartIdentity, boolean inPart) implements Step {

    /** All of what the publisher's command has named. */
    public Truncation(List<RelationMapEntry> relations, boolean restartIdentity) {
        this(relations, restartIdentity, false);
    }

    public Truncation {
        relations = List.copyOf(relations);
    }
}
