package dev.pgapply.core.batch;

import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;

/** A TRUNCATE of all its relations by one command; CASCADE of the publisher is never repeated (worker.c, apply_handle_truncate). */
public record Truncation(List<RelationMapEntry> relations, boolean restartIdentity) implements Step {
    public Truncation {
        relations = List.copyOf(relations);
    }
}
