package dev.pgapply.worker.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class SubscriptionStatsTest {

    private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void an_error_is_forgotten_once_the_subscription_streams_and_not_before() {
        stats.setLastError(new LastError("m", null, null, null, null, NOW, 1, null));

        stats.transition(SubscriptionStatus.CATCHING_UP, null);
        assertThat(stats.lastError()).isNotNull();
        stats.transition(SubscriptionStatus.STREAMING, null);

        assertThat(stats.lastError()).isNull();
    }

    @Test
    void a_reason_changes_without_a_step() {
        stats.transition(SubscriptionStatus.STANDBY, "pid 1");
        stats.transition(SubscriptionStatus.STANDBY, "pid 2");

        assertThat(stats.statusReason()).isEqualTo("pid 2");
    }

    @Test
    void the_lag_is_not_known_while_disconnected_and_never_negative() {
        stats.setOldestPendingCommitTime(NOW.plusSeconds(1));
        stats.setPublisherFlushLsn(new Lsn(1));
        stats.setFeedback(new Lsn(2), new Lsn(2), new Lsn(2));
        assertThat(stats.lag()).isNull();
        assertThat(stats.lagBytes()).isNull();
        stats.setConnected(true);

        assertThat(stats.lag()).isEqualTo(Duration.ZERO);
        assertThat(stats.lagBytes()).isZero();
    }
}
