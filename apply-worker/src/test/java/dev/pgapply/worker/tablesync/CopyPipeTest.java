package dev.pgapply.worker.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.worker.tablesync.CopyPipe.RowListener;
import java.io.ByteArrayOutputStream;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyOut;
import org.postgresql.util.ByteStreamWriter;

class CopyPipeTest {

    /** A publisher's COPY of given rows. */
    private static final class Rows implements CopyOut {
        private final Deque<byte[]> left = new ArrayDeque<>();

        Rows(int... lengths) {
            for (int i = 0; i < lengths.length; i++) {
                byte[] row = new byte[lengths[i]];
                Arrays.fill(row, (byte) (i + 1));
                left.add(row);
            }
        }

        @Override
        public byte @Nullable [] readFromCopy() {
            return left.poll();
        }

        @Override
        public byte @Nullable [] readFromCopy(boolean block) {
            return left.poll();
        }

        @Override
        public int getFieldCount() {
            return 1;
        }

        @Override
        public int getFormat() {
            return 0;
        }

        @Override
        public int getFieldFormat(int field) {
            return 0;
        }

        @Override
        public boolean isActive() {
            return !left.isEmpty();
        }

        @Override
        public void cancelCopy() {
            left.clear();
        }

        @Override
        public long getHandledRowCount() {
            return 3;
        }
    }

    /** A target's COPY that keeps what it gets, or has refused it. */
    private static class Taken implements CopyIn {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final List<Integer> writes = new ArrayList<>();
        private @Nullable SQLException refusal;

        @Override
        public void writeToCopy(byte[] data, int offset, int length) {
            bytes.write(data, offset, length);
            writes.add(length);
        }

        @Override
        public void writeToCopy(ByteStreamWriter from) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void flushCopy() {}

        @Override
        public long endCopy() throws SQLException {
            if (refusal != null) {
                throw refusal;
            }
            return 2;
        }

        @Override
        public int getFieldCount() {
            return 1;
        }

        @Override
        public int getFormat() {
            return 0;
        }

        @Override
        public int getFieldFormat(int field) {
            return 0;
        }

        @Override
        public boolean isActive() {
            return true;
        }

        @Override
        public void cancelCopy() {}

        @Override
        public long getHandledRowCount() {
            return 2;
        }
    }

    /** Notes what it is told, and knows of a refusal after so many rows. */
    private static class Listener implements RowListener {
        private final long refusedAfter;
        private long rows;

        Listener(long refusedAfter) {
            this.refusedAfter = refusedAfter;
        }

        @Override
        public void copied(long copiedRows, long bytes) {
            rows = copiedRows;
        }

        @Override
        public boolean targetRefused() {
            return rows >= refusedAfter;
        }
    }

    @Test
    void small_rows_go_together_and_a_large_one_goes_as_it_came() throws SQLException {
        Taken taken = new Taken();

        CopyPipe.Result result = new CopyPipe(new WideRows(WideRows.WIDE_BYTES))
                .carry(new Rows(10, 20, 1_000_000, 30), taken, false, new Listener(Long.MAX_VALUE));

        assertThat(taken.writes).containsExactly(30, 1_000_000, 30);
        assertThat(taken.bytes.size()).isEqualTo(1_000_060);
        assertThat(taken.bytes.toByteArray()).startsWith(1, 1).endsWith(4, 4);
        assertThat(result).isEqualTo(new CopyPipe.Result(3, 2, 1_000_060));
    }

    @Test
    void a_refusal_is_asked_for_as_soon_as_it_is_known_and_the_rest_is_not_read() {
        Taken taken = new Taken();
        taken.refusal = new SQLException("duplicate key");
        Rows rows = new Rows(10, 10, 10, 10);

        assertThatThrownBy(() ->
                        new CopyPipe(new WideRows(WideRows.WIDE_BYTES)).carry(rows, taken, false, new Listener(2)))
                .isInstanceOf(SQLException.class)
                .hasMessage("duplicate key");
        assertThat(rows.left).hasSize(2);
    }

    /** A row counts as held from its writing until the same worker writes the next: so long the driver keeps it. */
    private int mostHeldAtOnce(WideRows wideRows, int workerCount) throws InterruptedException {
        int wide = WideRows.WIDE_BYTES;
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Thread> workers = new ArrayList<>();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < workerCount; i++) {
            Taken taken = new Taken() {
                private boolean holds;

                @Override
                public void writeToCopy(byte[] data, int offset, int length) {
                    most.accumulateAndGet(holds ? held.get() : held.incrementAndGet(), Math::max);
                    holds = true;
                }

                @Override
                public long endCopy() {
                    return 4;
                }
            };
            Listener listener = new Listener(Long.MAX_VALUE) {
                @Override
                public void copied(long rows, long bytes) {
                    if (rows == 4) {
                        held.decrementAndGet();
                    }
                    super.copied(rows, bytes);
                }
            };
            Thread worker = new Thread(() -> {
                try {
                    new CopyPipe(wideRows).carry(new Rows(wide, wide, wide, wide), taken, true, listener);
                } catch (SQLException | RuntimeException e) {
                    failures.add(e);
                }
            });
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join(TimeUnit.SECONDS.toMillis(30));
        }
        assertThat(failures).isEmpty();
        assertThat(workers).noneMatch(Thread::isAlive);
        return most.get();
    }

    @Test
    void wide_rows_are_in_memory_one_at_a_time_where_there_is_room_for_one() throws Exception {
        assertThat(mostHeldAtOnce(new WideRows(WideRows.WIDE_BYTES), 4)).isEqualTo(1);
        assertThat(mostHeldAtOnce(new WideRows(10), 4)).isEqualTo(1);
    }

    @Test
    void two_workers_have_wide_rows_where_there_is_room_for_two_and_never_more() throws Exception {
        assertThat(mostHeldAtOnce(new WideRows(2L * WideRows.WIDE_BYTES), 6)).isBetween(1, 2);
    }

    @Test
    void whoever_waits_for_room_goes_on_when_all_may_pass() throws Exception {
        WideRows wideRows = new WideRows(WideRows.WIDE_BYTES);
        wideRows.share().hold(WideRows.UNKNOWN);
        Thread waiting = new Thread(() -> wideRows.share().hold(WideRows.WIDE_BYTES));
        waiting.start();

        wideRows.letAllPass();

        waiting.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(waiting.isAlive()).isFalse();
    }
}
