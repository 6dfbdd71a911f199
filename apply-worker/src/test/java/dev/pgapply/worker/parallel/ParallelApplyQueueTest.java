package dev.pgapply.worker.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ParallelApplyQueueTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    private final ParallelApplyQueue queue = new ParallelApplyQueue(1000);

    private static ParallelApplyItem message(int length) {
        return new ParallelApplyItem.Message(new byte[length], 0, length);
    }

    private List<ParallelApplyItem> drain() throws InterruptedException {
        List<ParallelApplyItem> items = new ArrayList<>();
        while (queue.drainTo(items, Duration.ZERO) > 0) {
            // what is left comes with the next
        }
        return items;
    }

    @Test
    void an_empty_queue_takes_an_item_of_any_size() throws InterruptedException {
        assertThat(queue.put(message(5000), Duration.ZERO)).isTrue();

        assertThat(queue.put(message(1), Duration.ZERO)).isFalse();
        assertThat(drain()).hasSize(1);
    }

    @Test
    void a_full_queue_takes_nothing_but_what_ends_the_transaction() throws InterruptedException {
        assertThat(queue.put(message(400), Duration.ZERO)).isTrue();
        assertThat(queue.put(message(400), Duration.ZERO)).isTrue();

        assertThat(queue.put(message(1), Duration.ofMillis(1))).isFalse();
        queue.putAtOnce(new ParallelApplyItem.Rollback(new CountDownLatch(1)));

        assertThat(drain()).hasSize(3).last().isInstanceOf(ParallelApplyItem.Rollback.class);
    }

    @Test
    void a_handful_is_an_eighth_of_the_bound_or_one_item() throws InterruptedException {
        assertThat(queue.put(message(400), Duration.ZERO)).isTrue();
        assertThat(queue.put(message(10), Duration.ZERO)).isTrue();
        List<ParallelApplyItem> items = new ArrayList<>();

        assertThat(queue.drainTo(items, Duration.ZERO)).isEqualTo(1);
        assertThat(queue.drainTo(items, Duration.ZERO)).isEqualTo(1);
        assertThat(queue.drainTo(items, Duration.ZERO)).isZero();
    }

    @Test
    void what_has_become_pointless_is_dropped() throws InterruptedException {
        assertThat(queue.put(message(400), Duration.ZERO)).isTrue();

        queue.putInstead(new ParallelApplyItem.Rollback(new CountDownLatch(1)));

        assertThat(drain()).hasSize(1);
        assertThat(queue.put(message(900), Duration.ZERO)).isTrue();
    }

    @Test
    void a_waiting_put_goes_on_when_room_is_made() throws InterruptedException {
        assertThat(queue.put(message(900), Duration.ZERO)).isTrue();
        CountDownLatch put = new CountDownLatch(1);
        Thread leader = new Thread(() -> {
            try {
                if (queue.put(message(500), LONG)) {
                    put.countDown();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        leader.start();

        List<ParallelApplyItem> items = new ArrayList<>();
        while (items.size() < 2) {
            int unused = queue.drainTo(items, LONG);
        }

        assertThat(put.await(10, TimeUnit.SECONDS)).isTrue();
        leader.join(10_000);
    }
}
