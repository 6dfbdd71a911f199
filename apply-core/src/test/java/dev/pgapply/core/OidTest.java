package dev.pgapply.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OidTest {

    @Test
    void an_object_id_is_printed_unsigned() {
        assertThat(new Oid(16385)).hasToString("16385");
        assertThat(new Oid(-1)).hasToString("4294967295");
    }

    @Test
    void only_what_is_fixed_in_the_source_is_built_in() {
        assertThat(new Oid(23).isBuiltIn()).isTrue();
        assertThat(new Oid(9_999).isBuiltIn()).isTrue();
        assertThat(new Oid(10_000).isBuiltIn()).isFalse();
        assertThat(Oid.INVALID.isBuiltIn()).isFalse();
        assertThat(new Oid(-1).isBuiltIn()).as("4294967295 is a user's").isFalse();
    }
}
