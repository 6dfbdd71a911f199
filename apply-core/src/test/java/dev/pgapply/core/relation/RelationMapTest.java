package dev.pgapply.core.relation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Relation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RelationMapTest {

    private final RelationMap map = new RelationMap();
    private final RelationFixture users = RelationFixture.keyed("users", "name");
    private final Oid oid = users.remote().oid();

    /** What the target says when asked, and how often it was. */
    private @Nullable TargetTable described = users.target();

    private int asked;

    private @Nullable TargetTable describe(QualifiedName name) {
        asked++;
        return described;
    }

    @Test
    void the_target_is_asked_when_the_first_change_needs_it() {
        map.put(users.remote());
        assertThat(asked).isZero();

        RelationMapEntry entry = map.open(oid, this::describe);

        assertThat(map.open(oid, this::describe)).isSameAs(entry);
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void a_relation_that_was_never_described_is_a_protocol_violation() {
        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> map.open(new Oid(16_385), this::describe))
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.PROTOCOL_VIOLATION))
                .withMessage("no relation map entry for remote relation ID 16385");
    }

    @Test
    void an_equal_relation_keeps_the_entry() {
        map.put(users.remote());
        RelationMapEntry entry = map.open(oid, this::describe);

        Relation again = users.remote();
        Relation inStreamBlock =
                new Relation(new Xid(731), again.oid(), again.name(), again.replicaIdentity(), again.columns());
        assertThat(map.willReplace(inStreamBlock)).isFalse();
        map.put(inStreamBlock);

        assertThat(map.entry(oid)).isSameAs(entry);
    }

    @Test
    void a_different_relation_replaces_the_entry() {
        map.put(users.remote());
        map.open(oid, this::describe);

        RelationFixture altered = users.column("mail", RelationFixture.TEXT);
        assertThat(map.willReplace(altered.remote())).isTrue();
        map.put(altered.remote());
        described = altered.target();

        assertThat(map.entry(oid)).isNull();
        assertThat(map.open(oid, this::describe).mappedColumns()).containsExactly(0, 1, 2);
    }

    @Test
    void an_unchanged_target_keeps_the_entry_when_it_is_described_again() {
        map.put(users.remote());
        RelationMapEntry entry = map.open(oid, this::describe);

        map.invalidateTargets();
        assertThat(map.entry(oid)).isNull();

        assertThat(map.open(oid, this::describe)).isSameAs(entry);
        assertThat(asked).isEqualTo(2);
    }

    @Test
    void a_changed_target_makes_a_new_entry() {
        map.put(users.remote());
        RelationMapEntry entry = map.open(oid, this::describe);
        described = users.rowTrigger("audit").target();

        map.invalidateTarget(oid);

        assertThat(map.open(oid, this::describe)).isNotEqualTo(entry);
    }

    @Test
    void a_target_that_went_away_is_noticed_when_it_is_described_again() {
        map.put(users.remote());
        map.open(oid, this::describe);
        described = null;

        map.invalidateTargets();

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> map.open(oid, this::describe))
                .withMessage("logical replication target relation \"s.users\" does not exist");
        assertThat(map.remote(oid).name()).isEqualTo(new QualifiedName("s", "users"));
    }
}
