package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import org.junit.jupiter.api.Test;

/** Rows that are not as the publisher thinks, and rows that a trigger keeps. */
class MissingRowsIT {

    private static final String TABLE = "CREATE TABLE m(id int PRIMARY KEY, v text)";

    private static DialectFixture withRows() {
        DialectFixture both = DialectFixture.with(false, TABLE);
        both.replicate("INSERT INTO m SELECT g, 'r' FROM generate_series(1, 20) g");
        return both;
    }

    @Test
    void missing_rows_are_reported_one_by_one() {
        try (DialectFixture both = withRows()) {
            both.onTargets("DELETE FROM m WHERE id IN (2, 3, 4)");
            both.replicate("UPDATE m SET v = 'u' WHERE id < 4", "DELETE FROM m WHERE id IN (4, 5)");

            both.assertBothPathsAgree("m");
            assertThat(both.fast().missing()).isEqualTo(3);
            assertThat(both.fast().replays()).isZero();
        }
    }

    @Test
    void a_missing_row_that_stands_for_several_changes_is_replayed() {
        try (DialectFixture both = withRows()) {
            both.onTargets("DELETE FROM m WHERE id = 2");
            both.replicate("UPDATE m SET v = 'u' WHERE id = 2", "UPDATE m SET v = 'w' WHERE id = 2");

            both.assertBothPathsAgree("m");
            assertThat(both.fast().missing()).isEqualTo(2);
            assertThat(both.fast().replays()).isEqualTo(1);
        }
    }

    @Test
    void a_row_that_should_have_been_absent_is_a_conflict_of_its_insert() {
        try (DialectFixture both = withRows()) {
            both.onTargets("INSERT INTO m VALUES (50, 'local')");

            assertThatThrownBy(() -> both.replicate("INSERT INTO m VALUES (50, 'x')", "DELETE FROM m WHERE id = 50"))
                    .isInstanceOf(ApplyException.class)
                    .extracting(e -> ((ApplyException) e).kind())
                    .isEqualTo(Kind.CONFLICT);
            assertThat(both.fast().replays()).isEqualTo(1);
            assertThat(both.fast().rows("m")).contains("(50,local)");
        }
    }

    @Test
    void more_missing_rows_than_a_statement_reports_are_counted_all_the_same() {
        try (DialectFixture both = withRows()) {
            both.replicate("INSERT INTO m SELECT g, 'r' FROM generate_series(1001, 3500) g");
            both.onTargets("DELETE FROM m WHERE id > 1000");
            both.replicate("UPDATE m SET v = 'u' WHERE id > 1000");

            both.assertBothPathsAgree("m");
            assertThat(both.fast().missing()).isEqualTo(2_500);
        }
    }

    @Test
    void a_row_that_a_trigger_keeps_is_not_missing() {
        try (DialectFixture both = withRows()) {
            both.onTargets(
                    "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.id = 3 THEN RETURN NULL; END IF;"
                            + " IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; NEW.v := upper(NEW.v); RETURN NEW; END $$",
                    "CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION keep()",
                    "ALTER TABLE m ENABLE ALWAYS TRIGGER keep");
            both.fast().describeAnew();
            both.exact().describeAnew();
            both.replicate("UPDATE m SET v = 'u' WHERE id < 5", "DELETE FROM m WHERE id IN (3, 4)");

            assertThat(both.fast().rows("m"))
                    .contains("(1,U)", "(2,U)", "(3,r)")
                    .doesNotContain("(4,U)");
            both.assertBothPathsAgree("m");
            assertThat(both.fast().missing()).isZero();
        }
    }
}
