package dev.pgapply.worker.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BlockingTransactionTest {

    @Test
    void what_the_role_may_see_is_in_the_sentence() {
        BlockingTransaction transaction = new BlockingTransaction(
                "731", 4711, null, "app", "shop", Duration.ofSeconds(90), "UPDATE t\n  SET v = 1", 2);

        assertThat(transaction.sentence())
                .isEqualTo(
                        "waiting for transaction 731 of pid 4711 before the slot can be created (user \"app\", database"
                                + " \"shop\", open for 90 s, query: UPDATE t SET v = 1, 2 transactions run)");
    }

    @Test
    void a_role_without_pg_monitor_sees_the_pid_at_least() {
        BlockingTransaction transaction = new BlockingTransaction("731", 4711, null, null, null, null, null, 1);

        assertThat(transaction.sentence())
                .isEqualTo(
                        "waiting for transaction 731 of pid 4711 before the slot can be created (1 transaction runs)");
    }

    @Test
    void a_prepared_transaction_has_no_process_but_a_name() {
        BlockingTransaction transaction =
                new BlockingTransaction("731", null, "two phase", "app", "shop", Duration.ofDays(1), null, 1);

        assertThat(transaction.sentence()).startsWith("waiting for prepared transaction \"two phase\" before the slot");
    }
}
