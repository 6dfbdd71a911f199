package dev.pgapply.core.relation;

import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.relation.TargetColumn.IdentityKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A remote relation and a target table of the same columns, which a test then makes different. */
public final class RelationFixture {

    public static final Oid INT4 = new Oid(23);
    public static final Oid TEXT = new Oid(25);
    public static final Oid TIMESTAMP = new Oid(1114);
    public static final Oid NUMERIC = new Oid(1700);

    private final QualifiedName name;
    private final List<Relation.Column> remote = new ArrayList<>();
    private final List<TargetColumn> local = new ArrayList<>();
    private ReplicaIdentity replicaIdentity = ReplicaIdentity.DEFAULT;
    private @Nullable List<String> identity;
    private final List<List<String>> uniqueKeys = new ArrayList<>();
    private TargetTable.Kind kind = TargetTable.Kind.PLAIN;
    private boolean rowSecurity;
    private TargetTable.Triggers triggers = TargetTable.Triggers.NONE;

    private RelationFixture(String name) {
        this.name = new QualifiedName("s", name);
    }

    public static RelationFixture named(String name) {
        return new RelationFixture(name);
    }

    /** A table with the key {@code id} on both sides, and text columns. */
    public static RelationFixture keyed(String name, String... textColumns) {
        RelationFixture fixture = named(name).keyColumn("id", INT4);
        for (String column : textColumns) {
            fixture.column(column, TEXT);
        }
        return fixture.identity("id");
    }

    /** A table of text columns without a key on either side, under REPLICA IDENTITY FULL. */
    public static RelationFixture full(String name, String... textColumns) {
        RelationFixture fixture = named(name).replicaIdentity(ReplicaIdentity.FULL);
        for (String column : textColumns) {
            fixture.keyColumn(column, TEXT);
        }
        return fixture;
    }

    public RelationFixture keyColumn(String column, Oid type) {
        remote.add(new Relation.Column(column, true, type, -1));
        return localColumn(column, type, -1, false);
    }

    public RelationFixture column(String column, Oid type) {
        remote.add(new Relation.Column(column, false, type, -1));
        return localColumn(column, type, -1, false);
    }

    public RelationFixture remoteColumn(String column, boolean key, Oid type, int typeModifier) {
        remote.add(new Relation.Column(column, key, type, typeModifier));
        return this;
    }

    public RelationFixture localColumn(String column, Oid type) {
        return localColumn(column, type, -1, false);
    }

    public RelationFixture localColumn(String column, Oid type, int typeModifier, boolean generated) {
        local.add(new TargetColumn(
                column,
                type,
                "pg_catalog.type" + type,
                typeModifier,
                false,
                false,
                generated,
                IdentityKind.NONE,
                !type.equals(NUMERIC),
                false));
        return this;
    }

    public RelationFixture localEnum(String column, Oid type) {
        local.add(new TargetColumn(column, type, "s.colour", -1, false, false, false, IdentityKind.NONE, true, true));
        return this;
    }

    public RelationFixture identity(String... columns) {
        identity = List.of(columns);
        return this;
    }

    public RelationFixture replicaIdentity(ReplicaIdentity value) {
        replicaIdentity = value;
        return this;
    }

    public RelationFixture kind(TargetTable.Kind value) {
        kind = value;
        return this;
    }

    public RelationFixture uniqueKey(String... columns) {
        uniqueKeys.add(List.of(columns));
        return this;
    }

    public RelationFixture rowSecurity() {
        rowSecurity = true;
        return this;
    }

    public RelationFixture rowTrigger(String trigger) {
        triggers = new TargetTable.Triggers(List.of(trigger), List.of());
        return this;
    }

    /** The name's hash serves as the publisher's oid. */
    public Relation remote() {
        return new Relation(null, new Oid(name.hashCode()), name, replicaIdentity, remote);
    }

    public TargetTable target() {
        return new TargetTable(name, kind, local, identity, uniqueKeys, rowSecurity, triggers);
    }

    public RelationMapEntry entry() {
        return RelationMapping.map(remote(), target(), name);
    }
}
