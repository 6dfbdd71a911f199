package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotWaitStateTest {

    private static String sentence(int waitedFor, BlockingTransaction... oldest) {
        return new SlotWaitState(null, SnapshotBuildPhase.BUILDING_SNAPSHOT, waitedFor, List.of(oldest)).sentence();
    }

    @Test
    void what_the_role_may_see_is_in_the_sentence() {
        assertThat(sentence(
                        2,
                        new BlockingTransaction(
                                (3L << 32) + 731,
                                4711,
                                null,
                                "app",
                                "shop",
                                Duration.ofSeconds(90),
                                "UPDATE t\n  SET v = 1")))
                .isEqualTo(
                        "waiting for transaction 731 of pid 4711 before the slot can be created (user \"app\", database"
                                + " \"shop\", open for 90 s, query: UPDATE t SET v = 1, 2 transactions to end, BUILDING_SNAPSHOT)");
    }

    @Test
    void a_role_without_pg_monitor_sees_the_pid_at_least() {
        assertThat(sentence(1, new BlockingTransaction(731, 4711, null, null, null, null, null)))
                .isEqualTo("waiting for transaction 731 of pid 4711 before the slot can be created"
                        + " (1 transaction to end, BUILDING_SNAPSHOT)");
    }

    @Test
    void a_prepared_transaction_has_no_process_but_a_name() {
        assertThat(sentence(
                        1, new BlockingTransaction(731, null, "two phase", "app", "shop", Duration.ofDays(1), null)))
                .startsWith("waiting for prepared transaction \"two phase\" before the slot");
    }

    @Test
    void a_long_query_is_shortened() {
        assertThat(sentence(1, new BlockingTransaction(1, 2, null, null, null, null, "SELECT " + "x".repeat(500))))
                .contains("query: SELECT xxx")
                .hasSizeLessThan(300);
    }

    @Test
    void nobody_to_wait_for_is_said_too() {
        assertThat(sentence(0)).isEqualTo("the publisher is creating the slot (BUILDING_SNAPSHOT)");
    }
}
