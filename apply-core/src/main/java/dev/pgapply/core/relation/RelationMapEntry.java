package dev.pgapply.core.relation;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
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

    /**
     * Whether two values of the column are equal on the target exactly if the publisher sends them by the same bytes: the target's type
     * is on the white list, is the publisher's type as well, and does not round or cut what is sent.
     */
    public boolean bytesDecideEquality(int remoteColumn) {
        TargetColumn local = localColumn(remoteColumn);
        if (local == null || !local.byteEquality()) {
            return false;
        }
        if (local.enumType()) {
            return true;
        }
        Relation.Column column = remote.columns().get(remoteColumn);
        // timestamp(0), or varchar(3) with trailing spaces, makes one value of two that the publisher tells apart
        boolean keepsValue = local.typeModifier() == -1 || local.typeModifier() == column.typeModifier();
        return column.type().isBuiltIn() && column.type().equals(local.type()) && keepsValue;
    }

    /**
     * Checks that rows can be found, which an UPDATE or DELETE needs and an INSERT or TRUNCATE does not (worker.c,
     * check_relation_updatable).
     *
     * @throws ApplyException of kind SCHEMA_MISMATCH in PostgreSQL's sentence, with a hint that says which identity would do
     */
    public void requireUpdatable() {
        if (key.kind() != SearchKey.Kind.NONE) {
            return;
        }
        List<String> identity = target.identity();
        if (identity != null) {
            throw ApplyException.withHint(
                    Kind.SCHEMA_MISMATCH,
                    "publisher did not send replica identity column expected by the logical replication target relation \""
                            + target.name() + "\"",
                    "the target's rows are found by " + RelationMapping.quoted(identity) + "; " + remedy());
        }
        throw ApplyException.withHint(
                Kind.SCHEMA_MISMATCH,
                "logical replication target relation \"" + target.name()
                        + "\" has neither REPLICA IDENTITY index nor PRIMARY KEY and published relation does not have"
                        + " REPLICA IDENTITY FULL",
                remedy());
    }

    private String remedy() {
        List<String> sent = remote.columns().stream()
                .filter(Relation.Column::key)
                .map(Relation.Column::name)
                .toList();
        if (sent.isEmpty() || remote.replicaIdentity() == ReplicaIdentity.NOTHING) {
            return "the publisher's table sends no replica identity: give it a PRIMARY KEY or REPLICA IDENTITY FULL";
        }
        return "give the target a PRIMARY KEY on " + RelationMapping.quoted(sent)
                + ", or a unique index on these columns, NOT NULL, that"
                + " ALTER TABLE ... REPLICA IDENTITY USING INDEX names; or set REPLICA IDENTITY FULL on the publisher";
    }
}
