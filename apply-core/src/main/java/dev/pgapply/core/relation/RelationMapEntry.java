package dev.pgapply.core.relation;

import dev.pgapply.core.pgoutput.Relation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A remote relation opened on the target: both descriptions and how the columns map (relation.c, LogicalRepRelMapEntry). Immutable;
 * when either description changes, a new entry replaces it.
 *
 * @param attributes the map from remote to local columns
 * @param key how a row is found on the target
 */
public record RelationMapEntry(Relation remote, TargetTable target, AttributeMap attributes, SearchKey key) {

    /** The target's column for a remote column, or null where the remote value is not applied (a generated column). */
    public @Nullable TargetColumn localColumn(int remoteColumn) {
        int local = attributes.localIndex(remoteColumn);
        return local < 0 ? null : target.columns().get(local);
    }

    /** The remote columns' numbers that have a column on the target, in the publisher's order. */
    public List<Integer> mappedColumns() {
        return attributes.mapped();
    }
}
