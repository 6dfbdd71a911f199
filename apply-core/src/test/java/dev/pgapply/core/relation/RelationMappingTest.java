package dev.pgapply.core.relation;

import static dev.pgapply.core.relation.RelationFixture.INT4;
import static dev.pgapply.core.relation.RelationFixture.NUMERIC;
import static dev.pgapply.core.relation.RelationFixture.TEXT;
import static dev.pgapply.core.relation.RelationFixture.TIMESTAMP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RelationMappingTest {

    private static final Oid BIGINT = new Oid(20);

    @Test
    void columns_are_matched_by_name_and_in_any_order() {
        RelationFixture fixture = RelationFixture.named("t")
                .remoteColumn("id", true, INT4, -1)
                .remoteColumn("a", false, TEXT, -1)
                .localColumn("own", TEXT)
                .localColumn("a", TEXT)
                .localColumn("id", INT4)
                .identity("id");

        RelationMapEntry entry = fixture.entry();

        assertThat(entry.attributes().localIndex(0)).isEqualTo(2);
        assertThat(entry.attributes().localIndex(1)).isEqualTo(1);
        assertThat(entry.key()).isEqualTo(new SearchKey(SearchKey.Kind.UNIQUE, List.of(0), true));
    }

    @Test
    void a_missing_table_is_named() {
        assertRefused(
                () -> RelationMapping.map(RelationFixture.keyed("t").remote(), null, new QualifiedName("s", "t")),
                Kind.SCHEMA_MISMATCH,
                "logical replication target relation \"s.t\" does not exist");
    }

    @Test
    void a_view_is_no_target() {
        RelationFixture view = RelationFixture.keyed("v").kind(TargetTable.Kind.OTHER);

        assertRefused(view::entry, Kind.SCHEMA_MISMATCH, "cannot use relation \"s.v\" as logical replication target");
    }

    @Test
    void row_security_stops_whatever_the_policies_say() {
        RelationFixture table = RelationFixture.keyed("t").rowSecurity();

        assertRefused(
                table::entry,
                Kind.PERMISSION,
                "cannot replicate into relation with row-level security enabled: \"s.t\"");
    }

    @Test
    void one_missing_column_is_named() {
        RelationFixture fixture = RelationFixture.keyed("t", "a").remoteColumn("b", false, TEXT, -1);

        assertRefused(
                fixture::entry,
                Kind.SCHEMA_MISMATCH,
                "logical replication target relation \"s.t\" is missing replicated column: \"b\"");
    }

    @Test
    void all_missing_columns_are_named() {
        RelationFixture fixture = RelationFixture.keyed("t", "a")
                .remoteColumn("b", false, TEXT, -1)
                .remoteColumn("C d", false, TEXT, -1);

        assertRefused(
                fixture::entry,
                Kind.SCHEMA_MISMATCH,
                "logical replication target relation \"s.t\" is missing replicated columns: \"b\", \"C d\"");
    }

    @Test
    void a_value_for_a_generated_column_is_not_applied() {
        RelationMapEntry entry = RelationFixture.keyed("t")
                .remoteColumn("twice", false, INT4, -1)
                .localColumn("twice", INT4, -1, true)
                .entry();

        assertThat(entry.localColumn(1)).isNull();
        assertThat(entry.mappedColumns()).containsExactly(0);
    }

    @Test
    void a_target_with_a_stricter_key_than_the_publisher_uses_its_own() {
        RelationMapEntry entry = RelationFixture.named("t")
                .keyColumn("a", INT4)
                .keyColumn("b", INT4)
                .identity("b")
                .entry();

        assertThat(entry.key()).isEqualTo(new SearchKey(SearchKey.Kind.UNIQUE, List.of(1), true));
    }

    @Test
    void the_order_of_the_targets_index_does_not_matter() {
        RelationMapEntry entry = RelationFixture.named("t")
                .keyColumn("n", NUMERIC)
                .keyColumn("t", TEXT)
                .column("v", TEXT)
                .identity("t", "n")
                .entry();

        assertThat(entry.key()).isEqualTo(new SearchKey(SearchKey.Kind.UNIQUE, List.of(0, 1), false));
    }

    @Test
    void under_full_a_target_with_a_key_is_searched_by_it() {
        RelationMapEntry entry = RelationFixture.keyed("t", "a")
                .replicaIdentity(ReplicaIdentity.FULL)
                .entry();

        assertThat(entry.key().kind()).isEqualTo(SearchKey.Kind.UNIQUE);
        assertThat(entry.key().remoteColumns()).containsExactly(0);
    }

    @Test
    void under_full_a_target_without_a_key_is_searched_by_all_published_columns() {
        RelationMapEntry entry = RelationFixture.full("t", "a", "b")
                .remoteColumn("twice", true, INT4, -1)
                .localColumn("twice", INT4, -1, true)
                .localColumn("own", TEXT)
                .entry();

        assertThat(entry.key()).isEqualTo(new SearchKey(SearchKey.Kind.FULL_ROW, List.of(0, 1), true));
    }

    @Test
    void under_full_a_key_that_is_not_published_does_not_matter() {
        RelationMapEntry entry = RelationFixture.full("t", "a")
                .localColumn("surrogate", INT4)
                .identity("surrogate")
                .entry();

        assertThat(entry.key().kind()).isEqualTo(SearchKey.Kind.FULL_ROW);
    }

    @Test
    void a_table_without_any_identity_takes_inserts_but_no_updates() {
        RelationMapEntry entry = RelationFixture.named("t").column("a", TEXT).entry();

        assertRefused(
                entry::requireUpdatable,
                Kind.SCHEMA_MISMATCH,
                "logical replication target relation \"s.t\" has neither REPLICA IDENTITY index nor PRIMARY KEY and"
                        + " published relation does not have REPLICA IDENTITY FULL");
    }

    @Test
    void a_target_without_identity_is_searched_by_a_unique_index_of_the_publishers_identity() {
        RelationFixture table = RelationFixture.named("t")
                .column("id", INT4)
                .keyColumn("n", NUMERIC)
                .keyColumn("t", TEXT)
                .uniqueKey("id")
                .uniqueKey("t", "n");

        assertThat(table.replicaIdentity(ReplicaIdentity.INDEX).entry().key())
                .isEqualTo(new SearchKey(SearchKey.Kind.UNIQUE, List.of(1, 2), false));
    }

    @Test
    void a_target_keyed_by_other_columns_is_searched_by_a_unique_index_of_the_publishers_identity() {
        RelationMapEntry entry = RelationFixture.named("t")
                .column("id", INT4)
                .keyColumn("u", INT4)
                .identity("id")
                .uniqueKey("u")
                .replicaIdentity(ReplicaIdentity.INDEX)
                .entry();

        assertThat(entry.key()).isEqualTo(new SearchKey(SearchKey.Kind.UNIQUE, List.of(1), true));
    }

    @Test
    void under_full_a_unique_index_is_no_identity_because_its_columns_may_be_null() {
        RelationMapEntry entry = RelationFixture.named("t")
                .keyColumn("a", INT4)
                .keyColumn("b", INT4)
                .uniqueKey("a")
                .replicaIdentity(ReplicaIdentity.FULL)
                .entry();

        assertThat(entry.key().kind()).isEqualTo(SearchKey.Kind.FULL_ROW);
    }

    @Test
    void a_target_without_the_publishers_index_is_told_which_one_to_create() {
        RelationMapEntry entry = RelationFixture.named("t")
                .keyColumn("n", NUMERIC)
                .keyColumn("at", TIMESTAMP)
                .column("v", INT4)
                .replicaIdentity(ReplicaIdentity.INDEX)
                .entry();

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(entry::requireUpdatable)
                .extracting(ApplyException::hint)
                .asString()
                .contains("PRIMARY KEY on \"n\", \"at\"")
                .contains("REPLICA IDENTITY USING INDEX");
    }

    @Test
    void a_target_keyed_by_other_columns_than_the_publisher_sends_is_not_updatable() {
        RelationMapEntry entry = RelationFixture.keyed("t", "a").identity("a").entry();

        assertRefused(
                entry::requireUpdatable,
                Kind.SCHEMA_MISMATCH,
                "publisher did not send replica identity column expected by the logical replication target relation"
                        + " \"s.t\"");
    }

    @Test
    void a_table_with_a_key_is_updatable() {
        assertThatNoException()
                .isThrownBy(() -> RelationFixture.keyed("t").entry().requireUpdatable());
        assertThatNoException()
                .isThrownBy(() -> RelationFixture.full("t", "a").entry().requireUpdatable());
    }

    @Test
    void bytes_decide_only_between_equal_types() {
        assertThat(keyOf(INT4, -1, INT4, -1).byteEquality()).isTrue();
        assertThat(keyOf(INT4, -1, BIGINT, -1).byteEquality()).isFalse();
        assertThat(keyOf(NUMERIC, -1, NUMERIC, -1).byteEquality()).isFalse();
        assertThat(keyOf(new Oid(16_384), -1, new Oid(16_384), -1).byteEquality())
                .isFalse();
    }

    @Test
    void bytes_do_not_decide_where_the_target_rounds() {
        assertThat(keyOf(TIMESTAMP, -1, TIMESTAMP, 0).byteEquality()).isFalse();
        assertThat(keyOf(TIMESTAMP, 0, TIMESTAMP, 0).byteEquality()).isTrue();
        assertThat(keyOf(TIMESTAMP, 0, TIMESTAMP, -1).byteEquality()).isTrue();
    }

    @Test
    void an_enum_is_equal_by_its_labels_whatever_its_oid() {
        RelationMapEntry entry = RelationFixture.named("t")
                .remoteColumn("colour", true, new Oid(16_400), -1)
                .localEnum("colour", new Oid(24_576))
                .identity("colour")
                .entry();

        assertThat(entry.key().byteEquality()).isTrue();
    }

    private static SearchKey keyOf(Oid remoteType, int remoteModifier, Oid localType, int localModifier) {
        return RelationFixture.named("t")
                .remoteColumn("k", true, remoteType, remoteModifier)
                .localColumn("k", localType, localModifier, false)
                .identity("k")
                .entry()
                .key();
    }

    private static void assertRefused(ThrowingCallable action, Kind kind, String message) {
        assertThatExceptionOfType(ApplyException.class).isThrownBy(action).satisfies(e -> {
            assertThat(e.kind()).isEqualTo(kind);
            assertThat(e).hasMessage(message);
        });
    }
}
