package dev.pgapply.core.relation;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maps a remote relation to the target's table (relation.c, logicalrep_rel_open), in PostgreSQL's sentences. Pure, so that a
 * preflight check says today what the first change would say tomorrow.
 *
 * <p>Three deliberate differences from PostgreSQL. A remote column that meets a generated column is not an error: the target computes
 * its own value and the remote one is not applied. And where the publisher has REPLICA IDENTITY FULL but does not publish all of the
 * target's identity columns, rows are found by all published columns instead of not at all.
 * And a target without replica identity and primary key is searched by a unique index of the publisher's identity columns, where it
 * has one: these are never null on the publisher, so a null of the target cannot be meant.
 */
public final class RelationMapping {

    private static final SearchKey NO_KEY = new SearchKey(SearchKey.Kind.NONE, List.of(), false);

    private RelationMapping() {}

    /**
     * @param target the table as the target described it, or null if there is none
     * @param targetName the name by which the target was asked
     * @throws ApplyException of kind SCHEMA_MISMATCH or PERMISSION if no change of the relation can be applied
     */
    public static RelationMapEntry map(Relation remote, @Nullable TargetTable target, QualifiedName targetName) {
        if (target == null) {
            throw new ApplyException(
                    Kind.SCHEMA_MISMATCH, "logical replication target relation \"" + targetName + "\" does not exist");
        }
        checkKind(target);
        checkRowSecurity(target);
        AttributeMap attributes = mapAttributes(remote, target);
        return withKey(new RelationMapEntry(remote, target, attributes, NO_KEY));
    }

    private static void checkKind(TargetTable target) {
        if (target.kind() == TargetTable.Kind.OTHER) {
            throw ApplyException.withHint(
                    Kind.SCHEMA_MISMATCH,
                    "cannot use relation \"" + target.name() + "\" as logical replication target",
                    "a target is a plain or a partitioned table");
        }
    }

    /** worker.c, TargetPrivilegesCheck: policies are neither obeyed nor passed by; they stop the change. */
    private static void checkRowSecurity(TargetTable target) {
        if (target.rowSecurity()) {
            throw ApplyException.withHint(
                    Kind.PERMISSION,
                    "cannot replicate into relation with row-level security enabled: \"" + target.name() + "\"",
                    "connect to the target as a role that the policies do not bind: the table's owner (unless FORCE ROW"
                            + " LEVEL SECURITY is set), a role with BYPASSRLS or a superuser");
        }
    }

    private static AttributeMap mapAttributes(Relation remote, TargetTable target) {
        Map<String, Integer> localIndexes = new HashMap<>();
        for (int i = 0; i < target.columns().size(); i++) {
            localIndexes.put(target.columns().get(i).name(), i);
        }
        int[] map = new int[remote.columns().size()];
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < map.length; i++) {
            String name = remote.columns().get(i).name();
            Integer local = localIndexes.get(name);
            if (local == null) {
                missing.add(name);
            } else {
                map[i] = target.columns().get(local).generated() ? -1 : local;
            }
        }
        if (!missing.isEmpty()) {
            // relation.c, logicalrep_report_missing_or_gen_attrs
            throw new ApplyException(
                    Kind.SCHEMA_MISMATCH,
                    "logical replication target relation \"" + target.name() + "\" is missing replicated "
                            + (missing.size() == 1 ? "column: " : "columns: ") + quoted(missing));
        }
        return new AttributeMap(map);
    }

    /** relation.c, logicalrep_rel_mark_updatable, and FindUsableIndexForReplicaIdentityFull where no local key can be used. */
    private static RelationMapEntry withKey(RelationMapEntry entry) {
        Relation remote = entry.remote();
        List<Integer> identity = remoteIdentityColumns(entry);
        if (identity != null) {
            return withKey(entry, SearchKey.Kind.UNIQUE, identity);
        }
        if (remote.replicaIdentity() == ReplicaIdentity.FULL
                && !entry.mappedColumns().isEmpty()) {
            return withKey(entry, SearchKey.Kind.FULL_ROW, entry.mappedColumns());
        }
        return entry;
    }

    private static RelationMapEntry withKey(RelationMapEntry entry, SearchKey.Kind kind, List<Integer> columns) {
        boolean byteEquality = columns.stream().allMatch(entry::bytesDecideEquality);
        SearchKey key = new SearchKey(kind, columns, byteEquality);
        return new RelationMapEntry(entry.remote(), entry.target(), entry.attributes(), key);
    }

    /**
     * The remote columns that are the target's identity, ascending. Where it has none, or the publisher identifies rows by something else,
     * a unique index of the target serves if the publisher's identity has all its columns; else null.
     */
    private static @Nullable List<Integer> remoteIdentityColumns(RelationMapEntry entry) {
        List<String> identity = entry.target().identity();
        List<Integer> ofIdentity = identity == null ? null : remoteColumns(entry, identity);
        if (ofIdentity != null) {
            return ofIdentity;
        }
        if (entry.remote().replicaIdentity() == ReplicaIdentity.FULL) {
            return null;
        }
        for (List<String> uniqueKey : entry.target().uniqueKeys()) {
            List<Integer> columns = remoteColumns(entry, uniqueKey);
            if (columns != null) {
                return columns;
            }
        }
        return null;
    }

    /** The remote columns of these names, ascending; null unless all of them are mapped and sent as a row's identity. */
    private static @Nullable List<Integer> remoteColumns(RelationMapEntry entry, List<String> identity) {
        Relation remote = entry.remote();
        List<Integer> columns = new ArrayList<>();
        for (int i : entry.mappedColumns()) {
            Relation.Column column = remote.columns().get(i);
            boolean sent = column.key() || remote.replicaIdentity() == ReplicaIdentity.FULL;
            if (sent && identity.contains(column.name())) {
                columns.add(i);
            }
        }
        return columns.size() == identity.size() ? columns : null;
    }

    /** Column names as PostgreSQL lists them in its messages. */
    static String quoted(List<String> names) {
        return "\"" + String.join("\", \"", names) + "\"";
    }
}
