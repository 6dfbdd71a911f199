package dev.pgapply.launcher.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.stats.CreationProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LagExplanationTest {

    private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

    private final SubscriptionStats stats = new SubscriptionStats("s", Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void a_target_that_has_everything_is_said_to() {
        stats.transition(SubscriptionStatus.STREAMING, null);
        stats.setConnected(true);
        stats.setPublisherFlushLsn(new Lsn(100));
        stats.setFeedback(new Lsn(100), new Lsn(100), new Lsn(100));

        assertThat(LagExplanation.of(stats)).isEqualTo("the target has everything that the publisher has committed");
    }

    @Test
    void a_target_behind_is_said_to_be_by_time_and_bytes() {
        stats.transition(SubscriptionStatus.CATCHING_UP, null);
        stats.setConnected(true);
        stats.setPublisherFlushLsn(new Lsn(3 << 20));
        stats.setOldestPendingCommitTime(NOW.minusSeconds(90));

        assertThat(LagExplanation.of(stats))
                .isEqualTo("the target is catching up: it is 1 min 30 s and 3.0 MB of WAL behind");
    }

    @Test
    void a_copy_is_said_by_its_tables() {
        stats.transition(SubscriptionStatus.COPYING, null);
        stats.setTable(new TableProgress(new QualifiedName("public", "a"), 's', null, 1, 1, 1, 1, null));
        stats.setTable(new TableProgress(new QualifiedName("public", "b"), 'd', null, 1, 1, 1, 1, null));

        assertThat(LagExplanation.of(stats)).startsWith("the first copy is running: 1 of 2 tables done");
    }

    @Test
    void what_copied_tables_still_lack_is_said_by_the_step() {
        stats.transition(SubscriptionStatus.COPYING, null);
        stats.updateCreation(none -> new CreationProgress(3, 9, "index \"i\" of table \"public.t\"", List.of()));

        assertThat(LagExplanation.of(stats))
                .contains("index \"i\" of table \"public.t\" (3 of 9 done)")
                .doesNotContain("first copy is running");
    }

    @ParameterizedTest
    @EnumSource(SubscriptionStatus.class)
    void every_status_has_a_sentence_with_its_reason(SubscriptionStatus status) {
        stats.transition(status, "a reason");

        assertThat(LagExplanation.of(stats)).isNotBlank().doesNotEndWith(".").doesNotContain("null");
    }
}
