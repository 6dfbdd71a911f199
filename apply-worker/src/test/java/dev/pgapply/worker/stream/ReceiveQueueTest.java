package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReceiveQueueTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final List<Frame> taken = new ArrayList<>();

    @Test
    void a_batch_is_put_as_far_as_it_fits() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(2 * ReceiveQueue.weight(frame(100)));

        int count = queue.put(List.of(frame(100), frame(100), frame(100)), 0, Duration.ZERO);

        assertThat(count).isEqualTo(2);
        assertThat(queue.bytes()).isEqualTo(2 * ReceiveQueue.weight(frame(100)));
        assertThat(queue.isEmpty()).isFalse();
    }

    @Test
    void an_empty_queue_takes_one_frame_of_any_size_and_no_second_one() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(10);

        int count = queue.put(List.of(frame(5000), frame(1)), 0, Duration.ZERO);

        assertThat(count).isEqualTo(1);
    }

    @Test
    void a_full_queue_takes_nothing_within_the_wait() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(10);
        queue.put(List.of(frame(1)), 0, Duration.ZERO);

        assertThat(queue.put(List.of(frame(1)), 0, Duration.ofMillis(5))).isZero();
    }

    @Test
    void a_taker_gets_at_most_an_eighth_at_a_time() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(16 * ReceiveQueue.weight(frame(100)));
        List<Frame> batch = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            batch.add(frame(100));
        }
        queue.put(batch, 0, Duration.ZERO);

        assertThat(queue.drainTo(taken, Duration.ZERO)).isEqualTo(2);
    }

    @Test
    void a_frame_larger_than_the_share_is_taken_alone() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(10_000);
        queue.put(List.of(frame(6000), frame(1)), 0, Duration.ZERO);

        assertThat(queue.drainTo(taken, Duration.ZERO)).isEqualTo(1);
    }

    @Test
    void nothing_is_taken_from_an_empty_queue_within_the_wait() throws Exception {
        assertThat(new ReceiveQueue(10).drainTo(taken, Duration.ofMillis(5))).isZero();
    }

    @Test
    void the_first_failure_comes_behind_the_frames_and_again_and_again() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(10);
        queue.put(List.of(frame(1)), 0, Duration.ZERO);
        queue.fail(new ApplyException(ApplyException.Kind.CONNECTION, "first"));
        queue.fail(new ApplyException(ApplyException.Kind.CONNECTION, "second"));

        assertThat(queue.drainTo(taken, SOON)).isEqualTo(1);
        assertThatThrownBy(() -> queue.drainTo(taken, SOON)).hasMessage("first");
        assertThatThrownBy(() -> queue.drainTo(taken, SOON)).hasMessage("first");
    }

    @Test
    void a_closed_queue_neither_gives_nor_takes() throws Exception {
        ReceiveQueue queue = new ReceiveQueue(10);
        queue.put(List.of(frame(1)), 0, Duration.ZERO);

        queue.close();

        assertThat(queue.drainTo(taken, SOON)).isZero();
        assertThat(queue.put(List.of(frame(1)), 0, SOON)).isZero();
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void two_threads_hand_over_every_frame_in_order_and_within_the_bound() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Frame> sent = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            sent.add(frame(1 + random.nextInt(i % 100 == 0 ? 5000 : 50)));
        }
        ReceiveQueue queue = new ReceiveQueue(4000);
        Thread putter = new Thread(() -> {
            try {
                int next = 0;
                while (next < sent.size()) {
                    List<Frame> batch = sent.subList(next, Math.min(sent.size(), next + 64));
                    next += queue.put(batch, 0, SOON);
                }
                queue.fail(new ApplyException(ApplyException.Kind.CONNECTION, "end"));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        putter.start();

        assertThatThrownBy(() -> {
                    while (true) {
                        queue.drainTo(taken, SOON);
                    }
                })
                .hasMessage("end");

        assertThat(taken).as("seed %d", seed).isEqualTo(sent);
        putter.join();
    }

    private static Frame frame(int messageLength) {
        return FrameDecoder.decode(Frames.xlogData(1, messageLength));
    }
}
