package dev.pgapply.worker.catalog;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.publisher.TimelineHistory;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SubscriptionIdentityTest {

    private static final SubscriptionRow ROW = new SubscriptionRow(
            4711,
            "orders",
            true,
            null,
            SlotState.READY,
            "orders_slot",
            new SubscriptionRow.Publisher("7000", 1, "shop"),
            new TargetIdentity("8000", 16384),
            TwoPhaseState.DISABLED,
            Lsn.parse("0/100"),
            Instant.EPOCH);

    private static final OriginStatus AT_500 = new OriginStatus(Lsn.parse("0/400"), Instant.EPOCH, Lsn.parse("0/500"));

    private static PublisherIdentity publisher(String systemIdentifier, int timeline, String walLsn, String database) {
        return new PublisherIdentity(systemIdentifier, timeline, Lsn.parse(walLsn), database);
    }

    @Test
    void the_publisher_and_target_it_was_made_for_are_accepted() {
        PublisherIdentity same = publisher("7000", 1, "0/500", "shop");

        assertThatCode(() -> {
                    SubscriptionIdentity.checkPublisher(ROW, same, "orders_slot");
                    SubscriptionIdentity.checkTarget(ROW, new TargetIdentity("8000", 16384));
                    SubscriptionIdentity.checkProgress(ROW, AT_500, same, new TimelineHistory(1, Map.of()));
                    SubscriptionIdentity.checkSlot(ROW, AT_500, Lsn.parse("0/500"));
                })
                .doesNotThrowAnyException();
    }

    @Test
    void another_publisher_is_refused_naming_both() {
        assertThatThrownBy(() ->
                        SubscriptionIdentity.checkPublisher(ROW, publisher("7001", 1, "0/500", "shop"), "orders_slot"))
                .hasMessageContaining("7000")
                .hasMessageContaining("7001");
    }

    @Test
    void another_database_of_the_publisher_is_refused_naming_both() {
        assertThatThrownBy(() ->
                        SubscriptionIdentity.checkPublisher(ROW, publisher("7000", 1, "0/500", "other"), "orders_slot"))
                .hasMessageContaining("\"shop\"")
                .hasMessageContaining("\"other\"");
    }

    @Test
    void another_slot_is_refused_naming_both() {
        assertThatThrownBy(
                        () -> SubscriptionIdentity.checkPublisher(ROW, publisher("7000", 1, "0/500", "shop"), "second"))
                .hasMessageContaining("\"orders_slot\"")
                .hasMessageContaining("\"second\"");
    }

    @Test
    void a_clone_of_the_target_is_refused_naming_both() {
        assertThatThrownBy(() -> SubscriptionIdentity.checkTarget(ROW, new TargetIdentity("8001", 16384)))
                .hasMessageContaining("8000")
                .hasMessageContaining("8001");
        assertThatThrownBy(() -> SubscriptionIdentity.checkTarget(ROW, new TargetIdentity("8000", 5)))
                .hasMessageContaining("16384")
                .hasMessageContaining("oid 5");
    }

    @Test
    void a_target_that_hides_its_system_identifier_is_told_by_its_database() {
        assertThatCode(() -> SubscriptionIdentity.checkTarget(ROW, new TargetIdentity(null, 16384)))
                .doesNotThrowAnyException();
    }

    @Test
    void a_timeline_that_branched_off_behind_the_progress_is_accepted() {
        TimelineHistory history = new TimelineHistory(2, Map.of(1, Lsn.parse("0/500")));

        assertThatCode(() ->
                        SubscriptionIdentity.checkProgress(ROW, AT_500, publisher("7000", 2, "0/600", "shop"), history))
                .doesNotThrowAnyException();
    }

    @Test
    void a_timeline_that_branched_off_before_the_progress_is_refused_naming_both_positions() {
        TimelineHistory history = new TimelineHistory(2, Map.of(1, Lsn.parse("0/4F0")));

        assertThatThrownBy(() ->
                        SubscriptionIdentity.checkProgress(ROW, AT_500, publisher("7000", 2, "0/600", "shop"), history))
                .hasMessageContaining("0/500")
                .hasMessageContaining("0/4F0")
                .hasMessageContaining("16 bytes");
    }

    @Test
    void a_timeline_that_is_no_descendant_is_refused() {
        assertThatThrownBy(() -> SubscriptionIdentity.checkProgress(
                        ROW, AT_500, publisher("7000", 3, "0/600", "shop"), new TimelineHistory(3, Map.of())))
                .hasMessageContaining("timeline 1")
                .hasMessageContaining("timeline 3");
    }

    @Test
    void a_publisher_behind_the_progress_is_refused_naming_both_positions() {
        assertThatThrownBy(() -> SubscriptionIdentity.checkProgress(
                        ROW, AT_500, publisher("7000", 1, "0/4FF", "shop"), new TimelineHistory(1, Map.of())))
                .hasMessageContaining("0/500")
                .hasMessageContaining("0/4FF");
    }

    @Test
    void a_slot_ahead_of_the_progress_is_refused_naming_the_gap() {
        assertThatThrownBy(() -> SubscriptionIdentity.checkSlot(ROW, AT_500, Lsn.parse("0/600")))
                .hasMessageContaining("0/500")
                .hasMessageContaining("0/600")
                .hasMessageContaining("256 bytes");
    }
}
