package dev.pgapply.core.target;

import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;

/**
 * What executing a set plan found.
 *
 * @param missing rows that were not there, each one conflict
 * @param needsExactReplay whether a row that stands for several changes was not as the plan expects it
 */
public record SetOutcome(List<MissingRow> missing, boolean needsExactReplay) {

    public static final SetOutcome REPLAY = new SetOutcome(List.of(), true);

    public SetOutcome {
        missing = List.copyOf(missing);
    }

    /** @param type UPDATE_MISSING or DELETE_MISSING */
    public record MissingRow(ConflictType type, RelationMapEntry relation, Tuple search) {}
}
