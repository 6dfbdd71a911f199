package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SendLagTest {

    private final SendLag sendLag = new SendLag();

    private void sent(long micros, byte... message) {
        ByteBuffer frame = ByteBuffer.allocate(25 + message.length);
        frame.put((byte) 'w').putLong(1).putLong(1).putLong(micros).put(message);
        sendLag.sent((XLogData) FrameDecoder.decode(frame.array()));
    }

    private static byte[] begin(long commitMicros) {
        return ByteBuffer.allocate(21)
                .put((byte) 'B')
                .putLong(100)
                .putLong(commitMicros)
                .putInt(7)
                .array();
    }

    private void lags(long micros) {
        assertThat(sendLag.lag()).isEqualTo(Duration.ofNanos(micros * 1_000));
    }

    @Test
    void it_grows_within_a_transaction_and_stays_behind_it() {
        lags(0);
        sent(1_500, begin(1_000));
        lags(500);
        sent(9_000, (byte) 'I');
        lags(8_000);
        sent(9_500, (byte) 'C');
        lags(8_500);
        sent(99_000, (byte) 'S');
        sent(99_000, (byte) 'I');
        lags(8_500);
        sent(99_100, begin(99_000));
        lags(100);
    }

    @Test
    void a_publisher_whose_clock_goes_back_is_not_behind() {
        sent(900, begin(1_000));
        lags(0);
    }

    /** The decoder will refuse it; the receiver is not to fail of it. */
    @Test
    void half_a_begin_is_passed_by() {
        sent(900, (byte) 'B', (byte) 0);
        lags(0);
    }
}
