package dev.pgapply.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.pgapply.core.Seeds;
import dev.pgapply.core.Xid;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SubxactListTest {

    private final SubxactList list = new SubxactList();

    @Test
    void an_entry_is_found_by_its_subxid() {
        list.add(new Xid(733), 0);
        list.add(new Xid(732), 40);

        int index = list.indexOf(new Xid(732));

        assertThat(index).isEqualTo(1);
        assertThat(list.position(index)).isEqualTo(40);
        assertThat(list.subxid(index)).isEqualTo(new Xid(732));
    }

    @Test
    void what_is_not_there_has_a_negative_index() {
        list.add(new Xid(732), 0);

        assertThat(list.indexOf(new Xid(733))).isNegative();
    }

    @Test
    void truncation_takes_the_entry_and_all_behind_it() {
        list.add(new Xid(732), 0);
        list.add(new Xid(733), 10);
        list.add(new Xid(734), 20);

        list.truncate(1);

        assertThat(list.size()).isEqualTo(1);
        assertThat(list.indexOf(new Xid(732))).isZero();
        assertThat(list.indexOf(new Xid(733))).isNegative();
        assertThat(list.indexOf(new Xid(734))).isNegative();
    }

    @Test
    void a_subtransaction_is_added_once_and_behind_the_others() {
        list.add(new Xid(732), 10);

        assertThatIllegalArgumentException().isThrownBy(() -> list.add(new Xid(732), 20));
        assertThatIllegalArgumentException().isThrownBy(() -> list.add(new Xid(733), 9));
    }

    @Test
    void it_agrees_with_a_plain_list_on_random_additions_and_truncations() {
        Seeds.forEach(SubxactListTest::compareWithPlainList);
    }

    private static void compareWithPlainList(Random random) {
        SubxactList list = new SubxactList();
        List<Xid> plain = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            Xid subxid = new Xid(random.nextInt(400) * (random.nextBoolean() ? 1 : 65_536));
            int index = plain.indexOf(subxid);
            assertThat(list.indexOf(subxid)).isEqualTo(index);
            if (index < 0) {
                list.add(subxid, step);
                plain.add(subxid);
            } else if (random.nextInt(4) == 0) {
                list.truncate(index);
                plain.subList(index, plain.size()).clear();
            }
            assertThat(list.size()).isEqualTo(plain.size());
        }
        for (int i = 0; i < plain.size(); i++) {
            assertThat(list.subxid(i)).isEqualTo(plain.get(i));
        }
    }
}
