package dev.pgapply.core.pgoutput;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is encoded is decoded as an equal message. */
class PgOutputEncoderTest {

    private static final Oid USERS = new Oid(-2);

    private static PgOutputMessage decoded(byte[] message) {
        return new PgOutputDecoder().decode(message, 0, message.length, false);
    }

    @Test
    void a_begin_keeps_its_microseconds_and_unsigned_numbers() {
        Begin begin =
                new Begin(Lsn.parse("FFFFFFFF/FFFFFFF0"), Instant.parse("2026-11-30T19:00:00.123456Z"), new Xid(-3));

        assertThat(decoded(PgOutputEncoder.begin(begin))).isEqualTo(begin);
    }

    @Test
    void a_time_before_the_year_2000_is_kept() {
        Begin begin = new Begin(new Lsn(1), Instant.parse("1999-12-31T23:59:59.000001Z"), new Xid(3));

        assertThat(decoded(PgOutputEncoder.begin(begin))).isEqualTo(begin);
    }

    @Test
    void a_relation_keeps_names_keys_and_modifiers() {
        Relation relation = new Relation(
                null,
                USERS,
                new QualifiedName("Größe", "a.b"),
                ReplicaIdentity.FULL,
                List.of(
                        new Relation.Column("id", true, new Oid(23), -1),
                        new Relation.Column("näme", false, new Oid(1043), 68)));

        assertThat(decoded(PgOutputEncoder.relation(relation))).isEqualTo(relation);
    }

    @Test
    void a_relation_may_have_no_columns() {
        Relation relation =
                new Relation(null, USERS, new QualifiedName("public", "none"), ReplicaIdentity.NOTHING, List.of());

        assertThat(decoded(PgOutputEncoder.relation(relation))).isEqualTo(relation);
    }

    @Test
    void the_part_of_a_truncate_names_one_relation_and_keeps_the_flags() {
        Truncate both = new Truncate(null, true, true, List.of(new Oid(1), USERS));

        assertThat(decoded(PgOutputEncoder.truncate(both, USERS)))
                .isEqualTo(new Truncate(null, true, true, List.of(USERS)));
    }
}
