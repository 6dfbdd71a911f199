package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions.Origin;
import java.util.List;
import org.junit.jupiter.api.Test;

class PgOutputOptionsTest {

    @Test
    void a_publisher_is_asked_in_the_newest_protocol_that_it_speaks() {
        assertThat(options(140012, false, Origin.ANY, "p")).isEqualTo("(proto_version '2', publication_names '\"p\"')");
        assertThat(options(150000, true, Origin.ANY, "p"))
                .isEqualTo("(proto_version '3', publication_names '\"p\"', binary 'true')");
        assertThat(options(180004, true, Origin.NONE, "p"))
                .isEqualTo("(proto_version '4', publication_names '\"p\"', binary 'true', origin 'none')");
    }

    @Test
    void the_origin_is_not_sent_to_a_publisher_that_does_not_know_it() {
        assertThat(options(150000, false, Origin.NONE, "p")).doesNotContain("origin");
    }

    @Test
    void names_are_quoted_as_identifiers_and_then_as_a_literal() {
        assertThat(options(180000, false, Origin.ANY, "It's \"mine\", yes", "Plain"))
                .isEqualTo("(proto_version '4', publication_names '\"It''s \"\"mine\"\", yes\",\"Plain\"')");
    }

    @Test
    void streaming_is_asked_for_by_a_word_that_every_release_reads() {
        PgOutputOptions options =
                PgOutputOptions.forPublisher(140012, List.of("p"), false, StreamingMode.ON, Origin.ANY);

        assertThat(options.toOptionList()).isEqualTo("(proto_version '2', publication_names '\"p\"', streaming 'on')");
    }

    private static String options(int version, boolean binary, Origin origin, String... publications) {
        return PgOutputOptions.forPublisher(version, List.of(publications), binary, StreamingMode.OFF, origin)
                .toOptionList();
    }
}
