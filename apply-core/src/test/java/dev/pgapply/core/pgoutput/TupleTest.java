package dev.pgapply.core.pgoutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TupleTest {

    @Test
    void equal_text_is_the_same_in_another_column_of_another_tuple() {
        Tuple one = TupleBuilder.ofText("7", "ann");
        Tuple other = TupleBuilder.ofText("ann", null);

        assertThat(one.sameBytes(1, other, 0)).isTrue();
        assertThat(one.hashOf(1)).isEqualTo(other.hashOf(0));
        assertThat(one.sameBytes(0, other, 0)).isFalse();
    }

    @Test
    void null_is_the_same_as_null_but_not_as_the_empty_text() {
        Tuple tuple = TupleBuilder.ofText(null, null, "");

        assertThat(tuple.sameBytes(0, tuple, 1)).isTrue();
        assertThat(tuple.hashOf(0)).isEqualTo(tuple.hashOf(1));
        assertThat(tuple.sameBytes(0, tuple, 2)).isFalse();
        assertThat(tuple.sameBytes(2, tuple, 2)).isTrue();
    }

    @Test
    void text_and_binary_of_the_same_bytes_differ() {
        Tuple tuple = new TupleBuilder()
                .text("a")
                .binary("a".getBytes(StandardCharsets.UTF_8))
                .build();

        assertThat(tuple.sameBytes(0, tuple, 1)).isFalse();
    }

    @Test
    void unchanged_is_the_same_as_nothing_because_its_value_is_not_known() {
        Tuple tuple = new TupleBuilder().unchanged().unchanged().build();

        assertThat(tuple.sameBytes(0, tuple, 1)).isFalse();
        assertThat(tuple.hasUnchanged()).isTrue();
        assertThat(TupleBuilder.ofText("a", null).hasUnchanged()).isFalse();
    }

    @Test
    void a_merge_takes_the_earlier_value_for_unchanged_columns_only() {
        Tuple earlier = TupleBuilder.ofText("1", "large", "old");
        Tuple later = new TupleBuilder().text("1").unchanged().text(null).build();

        Tuple merged = later.withUnchangedFrom(earlier);

        assertThat(merged.text(0)).isEqualTo("1");
        assertThat(merged.text(1)).isEqualTo("large");
        assertThat(merged.text(2)).isNull();
        assertThat(merged.hasUnchanged()).isFalse();
        assertThat(merged.buffer(1)).as("not copied").isSameAs(earlier.buffer(1));
    }

    @Test
    void a_merge_of_merges_reaches_back_to_the_first_value() {
        Tuple first = TupleBuilder.ofText("1", "large", "a");
        Tuple second = new TupleBuilder().text("1").unchanged().text("b").build();
        Tuple third = new TupleBuilder().text("1").unchanged().unchanged().build();

        Tuple merged = third.withUnchangedFrom(second.withUnchangedFrom(first));

        assertThat(merged.text(1)).isEqualTo("large");
        assertThat(merged.text(2)).isEqualTo("b");
        assertThat(merged.sameBytes(1, first, 1)).isTrue();
        assertThat(merged.hashOf(1)).isEqualTo(first.hashOf(1));
    }

    @Test
    void what_is_unchanged_in_both_stays_unchanged() {
        Tuple earlier = new TupleBuilder().unchanged().build();
        Tuple later = new TupleBuilder().unchanged().build();

        assertThat(later.withUnchangedFrom(earlier).isUnchanged(0)).isTrue();
    }

    @Test
    void a_complete_tuple_is_its_own_merge() {
        Tuple later = TupleBuilder.ofText("1", null);

        assertThat(later.withUnchangedFrom(TupleBuilder.ofText("2", "b"))).isSameAs(later);
    }

    @Test
    void tuples_of_different_relations_do_not_merge() {
        Tuple later = new TupleBuilder().unchanged().build();

        assertThatThrownBy(() -> later.withUnchangedFrom(TupleBuilder.ofText("1", "2")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a tuple of 1 columns cannot take values from one of 2");
    }

    @Test
    void its_text_shows_no_value() {
        Tuple tuple = new TupleBuilder()
                .text("secret")
                .text(null)
                .unchanged()
                .binary(new byte[2])
                .build();

        assertThat(tuple).hasToString("Tuple(t6, n, u, b2)");
    }
}
