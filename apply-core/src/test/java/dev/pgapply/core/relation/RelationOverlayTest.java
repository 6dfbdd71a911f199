package dev.pgapply.core.relation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Relation;
import org.junit.jupiter.api.Test;

class RelationOverlayTest {

    private static final Xid XID = new Xid(731);

    private final Relation before = RelationFixture.keyed("users", "name").remote();
    private final Relation altered = streamed(RelationFixture.keyed("users", "name", "mail"));
    private final Relation later =
            RelationFixture.keyed("users", "name", "mail", "phone").remote();
    private final Oid oid = before.oid();

    private final RelationMap map = new RelationMap();
    private final RelationOverlay overlay = new RelationOverlay(map);

    private static Relation streamed(RelationFixture fixture) {
        Relation remote = fixture.remote();
        return new Relation(XID, remote.oid(), remote.name(), remote.replicaIdentity(), remote.columns());
    }

    private static TargetTable describe(QualifiedName name) {
        return RelationFixture.keyed(name.name(), "name", "mail", "phone").target();
    }

    @Test
    void what_a_stream_block_says_of_a_relation_counts_for_nobody_else() {
        map.put(before);

        overlay.announce(altered);

        assertThat(map.remote(oid)).isEqualTo(before);
    }

    @Test
    void a_commit_puts_in_force_what_was_announced() {
        map.put(before);
        overlay.announce(altered);

        boolean replaced = overlay.merge();

        assertThat(replaced).isTrue();
        assertThat(map.remote(oid).columns()).isEqualTo(altered.columns());
        assertThat(map.remote(oid).xid()).isNull();
    }

    @Test
    void a_commit_puts_nothing_in_force_over_what_came_later() {
        map.put(before);
        overlay.announce(altered);
        map.put(later);

        boolean replaced = overlay.merge();

        assertThat(replaced).isFalse();
        assertThat(map.remote(oid)).isEqualTo(later);
    }

    @Test
    void the_repetition_of_what_is_in_force_counts_as_later() {
        map.put(before);
        overlay.announce(altered);
        map.put(before);

        overlay.merge();

        assertThat(map.remote(oid)).isEqualTo(before);
    }

    @Test
    void of_two_streamed_transactions_the_later_announcement_wins_whichever_commits_first() {
        RelationOverlay other = new RelationOverlay(map);
        other.announce(altered);
        overlay.announce(later);

        overlay.merge();
        other.merge();

        assertThat(map.remote(oid)).isEqualTo(later);
    }

    @Test
    void after_a_subtransactions_abort_only_what_is_announced_again_is_merged() {
        Relation orders = RelationFixture.keyed("orders", "item").remote();
        map.put(before);
        overlay.announce(altered);
        overlay.announce(orders);

        overlay.forget();
        overlay.announce(orders);
        overlay.merge();

        assertThat(map.remote(oid)).isEqualTo(before);
        assertThat(map.remote(orders.oid())).isEqualTo(orders);
    }

    @Test
    void an_equal_relation_shares_the_entry_in_force() {
        map.put(before);
        RelationMapEntry entry = map.open(oid, RelationOverlayTest::describe);

        overlay.put(streamed(RelationFixture.keyed("users", "name")));

        assertThat(overlay.open(oid, RelationOverlayTest::describe)).isSameAs(entry);
        assertThat(overlay.entry(oid)).isSameAs(entry);
        assertThat(overlay.isOwn(oid)).isFalse();
        assertThat(overlay.differed()).isFalse();
    }

    @Test
    void a_different_relation_has_an_entry_of_its_own() {
        map.put(before);
        RelationMapEntry entry = map.open(oid, RelationOverlayTest::describe);

        overlay.put(altered);

        RelationMapEntry own = overlay.open(oid, RelationOverlayTest::describe);
        assertThat(own.remote().columns()).isEqualTo(altered.columns());
        assertThat(overlay.remote(oid).columns()).isEqualTo(altered.columns());
        assertThat(map.entry(oid)).isSameAs(entry);
        assertThat(overlay.differed()).isTrue();
    }

    @Test
    void an_alter_that_is_rolled_back_leads_back_to_the_relation_in_force() {
        map.put(before);
        overlay.put(altered);

        overlay.put(before);

        assertThat(overlay.remote(oid)).isEqualTo(before);
        assertThat(overlay.isOwn(oid)).isFalse();
        assertThat(overlay.differed()).isTrue();
    }

    @Test
    void it_says_when_changes_may_have_been_collected_for_another_description() {
        assertThat(overlay.willReplace(altered)).isFalse();
        map.put(before);
        assertThat(overlay.willReplace(altered)).isTrue();

        overlay.put(altered);

        assertThat(overlay.willReplace(altered)).isFalse();
        assertThat(overlay.willReplace(before)).isTrue();
    }

    @Test
    void an_old_description_of_the_target_is_asked_for_again() {
        map.put(before);
        overlay.put(altered);
        RelationMapEntry first = overlay.open(oid, RelationOverlayTest::describe);

        overlay.invalidateTarget(oid);

        assertThat(overlay.entry(oid)).isNull();
        assertThat(overlay.open(oid, RelationOverlayTest::describe)).isSameAs(first);
    }

    @Test
    void a_relation_that_nobody_described_is_a_protocol_violation() {
        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> overlay.open(new Oid(16_385), RelationOverlayTest::describe))
                .withMessage("no relation map entry for remote relation ID 16385");
    }
}
