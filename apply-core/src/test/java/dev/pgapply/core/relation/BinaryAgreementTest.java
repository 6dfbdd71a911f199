package dev.pgapply.core.relation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Oid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BinaryAgreementTest {

    private static final Oid INT8 = new Oid(20);
    private static final Oid VARCHAR = new Oid(1043);
    private static final Oid REGCLASS = new Oid(2205);
    private static final Oid TSQUERY = new Oid(3615);
    private static final Oid MADE = new Oid(16_400);

    @Test
    void the_same_built_in_type_agrees_unless_its_bytes_belong_to_one_server() {
        assertThat(disagreeing(RelationFixture.keyed("t", "a"))).isNull();
        assertThat(disagreeing(RelationFixture.keyed("t").column("v", REGCLASS)))
                .isEqualTo("v");
        assertThat(disagreeing(RelationFixture.keyed("t").column("v", TSQUERY))).isEqualTo("v");
        assertThat(disagreeing(RelationFixture.keyed("t").column("v", MADE))).isEqualTo("v");
    }

    @Test
    void enums_agree_by_their_labels_whatever_their_oids_are() {
        RelationFixture table = RelationFixture.keyed("t").remoteColumn("e", false, MADE, -1);
        assertThat(disagreeing(table.localEnum("e", new Oid(17_000)))).isNull();
    }

    @Test
    void another_type_disagrees_and_is_refused_unless_both_are_text() {
        RelationFixture wider = RelationFixture.keyed("t")
                .remoteColumn("v", false, RelationFixture.INT4, -1)
                .localColumn("v", INT8);
        assertThat(disagreeing(wider)).isEqualTo("v");
        assertThat(refusing(wider)).isEqualTo("v");

        RelationFixture text =
                RelationFixture.keyed("t").remoteColumn("v", false, VARCHAR, 9).localColumn("v", RelationFixture.TEXT);
        assertThat(disagreeing(text)).isEqualTo("v");
        assertThat(refusing(text)).isNull();
    }

    @Test
    void a_column_of_the_targets_own_does_not_count() {
        RelationFixture fixture = RelationFixture.keyed("t").localColumn("extra", INT8);
        assertThat(disagreeing(fixture)).isNull();
    }

    private static @Nullable String disagreeing(RelationFixture fixture) {
        return name(BinaryAgreement.disagreeing(entry(fixture)));
    }

    private static @Nullable String refusing(RelationFixture fixture) {
        return name(BinaryAgreement.refusing(entry(fixture)));
    }

    private static @Nullable String name(@Nullable TargetColumn column) {
        return column == null ? null : column.name();
    }

    private static RelationMapEntry entry(RelationFixture fixture) {
        return RelationMapping.map(
                fixture.remote(), fixture.target(), fixture.target().name());
    }
}
