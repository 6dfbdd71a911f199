package dev.pgapply.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Seeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FlushPositionsTest {

    private static final Lsn START = new Lsn(1_000);

    private final FlushPositions positions = new FlushPositions(START);

    @Test
    void a_new_session_stands_at_the_recorded_progress() {
        assertThat(positions.flushed()).isEqualTo(START);
        assertThat(positions.applied()).isEqualTo(START);
        assertThat(positions.isEmpty()).isTrue();
        assertThat(positions.oldestCommitTime()).isNull();
    }

    @Test
    void a_commit_is_applied_at_once_and_flushed_when_the_target_has_flushed_it() {
        store(1_100, 50);
        assertThat(positions.applied()).isEqualTo(new Lsn(1_100));
        assertThat(positions.flushed()).isEqualTo(START);

        positions.advance(new Lsn(49));
        assertThat(positions.flushed()).isEqualTo(START);

        positions.advance(new Lsn(50));
        assertThat(positions.flushed()).isEqualTo(new Lsn(1_100));
        assertThat(positions.isEmpty()).isTrue();
    }

    @Test
    void only_what_is_durable_with_all_before_it_counts_as_flushed() {
        store(1_100, 50);
        store(1_200, 60);
        store(1_300, 70);

        positions.advance(new Lsn(65));

        assertThat(positions.flushed()).isEqualTo(new Lsn(1_200));
        assertThat(positions.applied()).isEqualTo(new Lsn(1_300));
        assertThat(positions.oldestCommitTime()).isEqualTo(time(1_300));
    }

    @Test
    void the_oldest_commit_that_is_not_durable_tells_its_time() {
        store(1_100, 50);
        store(1_200, 60);

        assertThat(positions.oldestCommitTime()).isEqualTo(time(1_100));
    }

    @Test
    void commits_of_one_local_position_share_a_pair() {
        store(1_100, 50);
        store(1_200, 50);

        assertThat(positions.size()).isEqualTo(1);
        positions.advance(new Lsn(50));
        assertThat(positions.flushed()).isEqualTo(new Lsn(1_200));
    }

    @Test
    void an_older_flush_position_takes_nothing_back() {
        store(1_100, 50);
        positions.advance(new Lsn(50));

        positions.advance(new Lsn(10));

        assertThat(positions.flushed()).isEqualTo(new Lsn(1_100));
    }

    @Test
    void a_remote_position_that_goes_back_moves_nothing_back() {
        store(1_200, 50);
        store(1_100, 60);

        positions.advance(new Lsn(60));

        assertThat(positions.applied()).isEqualTo(new Lsn(1_200));
        assertThat(positions.flushed()).isEqualTo(new Lsn(1_200));
    }

    @Test
    void a_recorded_idle_position_makes_everything_durable() {
        store(1_100, 50);

        positions.recordIdle(new Lsn(1_500));

        assertThat(positions.flushed()).isEqualTo(new Lsn(1_500));
        assertThat(positions.applied()).isEqualTo(new Lsn(1_500));
        assertThat(positions.isEmpty()).isTrue();
    }

    @Test
    void an_idle_position_behind_the_applied_one_makes_the_applied_one_durable() {
        store(1_100, 50);

        positions.recordIdle(new Lsn(900));

        assertThat(positions.flushed()).isEqualTo(new Lsn(1_100));
    }

    @Test
    void memory_is_bounded_while_the_target_does_not_flush() {
        int commits = 3 * FlushPositions.MAX_PENDING;
        for (int i = 1; i <= commits; i++) {
            store(1_000 + i, i);
        }

        assertThat(positions.size()).isEqualTo(FlushPositions.MAX_PENDING);
        positions.advance(new Lsn(commits - 1));
        assertThat(positions.flushed()).isLessThan(new Lsn(1_000 + commits));
        positions.advance(new Lsn(commits));
        assertThat(positions.flushed()).isEqualTo(new Lsn(1_000 + commits));
    }

    @Test
    void it_agrees_with_a_list_of_all_commits() {
        Seeds.forEach(FlushPositionsTest::compareWithModel);
    }

    /** The model remembers every commit: flushed is the last one before the first that the target has not flushed. */
    private static void compareWithModel(Random random) {
        FlushPositions positions = new FlushPositions(START);
        List<long[]> commits = new ArrayList<>();
        long remote = START.value();
        long local = 0;
        long localFlushed = 0;
        long idle = START.value();
        for (int i = 0; i < 300; i++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2, 3 -> {
                    remote += 1 + random.nextInt(5);
                    local += random.nextInt(3);
                    commits.add(new long[] {remote, local});
                    positions.store(new Lsn(remote), new Lsn(local), time(remote));
                }
                case 4, 5, 6 -> localFlushed = Math.max(localFlushed, local - random.nextInt(12));
                default -> {
                    if (random.nextInt(10) == 0) {
                        remote += 1 + random.nextInt(5);
                        idle = remote;
                        localFlushed = local;
                        positions.recordIdle(new Lsn(idle));
                    }
                }
            }
            long flushed = idle;
            boolean pending = false;
            for (long[] commit : commits) {
                pending |= commit[1] > localFlushed && commit[0] > idle;
                flushed = pending ? flushed : Math.max(flushed, commit[0]);
            }
            // As a session does, which learns the flushed position with each commit.
            positions.advance(new Lsn(localFlushed));
            assertThat(positions.flushed().value()).isEqualTo(flushed);
            assertThat(positions.applied().value()).isEqualTo(remote);
            assertThat(positions.isEmpty()).isEqualTo(!pending);
        }
    }

    private void store(long remoteEnd, long localLsn) {
        positions.store(new Lsn(remoteEnd), new Lsn(localLsn), time(remoteEnd));
    }

    private static Instant time(long remoteEnd) {
        return Instant.ofEpochSecond(remoteEnd);
    }
}
