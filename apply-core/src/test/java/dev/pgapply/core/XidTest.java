package dev.pgapply.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class XidTest {

    @Test
    void a_transaction_id_is_printed_unsigned() {
        assertThat(new Xid(731)).hasToString("731");
        assertThat(new Xid(-2)).hasToString("4294967294");
    }

    @Test
    void equal_ids_are_equal() {
        assertThat(new Xid(-2)).isEqualTo(new Xid(-2)).isNotEqualTo(new Xid(2));
    }
}
