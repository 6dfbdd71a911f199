package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class FrameDecoderTest {

    @Test
    void xlog_data() {
        byte[] payload = bytes("77 00000001 0000002A 00000001 0000002B 00000000 000F4240 4241");

        assertThat(FrameDecoder.decode(payload))
                .isEqualTo(new XLogData(Lsn.parse("1/2A"), Lsn.parse("1/2B"), 1_000_000, payload, 25, 2));
    }

    @Test
    void keepalive() {
        assertThat(FrameDecoder.decode(bytes("6B 00000001 0000002A 00000000 000F4240 01")))
                .isEqualTo(new Keepalive(Lsn.parse("1/2A"), 1_000_000, true));
        assertThat(FrameDecoder.decode(bytes("6B 00000001 0000002A 00000000 000F4240 00")))
                .isEqualTo(new Keepalive(Lsn.parse("1/2A"), 1_000_000, false));
    }

    @Test
    void an_unknown_frame_is_named_by_its_byte() {
        assertThatThrownBy(() -> FrameDecoder.decode(bytes("F0 00")))
                .isInstanceOf(ApplyException.class)
                .hasMessage("unexpected frame type 240 from the walsender");
    }

    @Test
    void every_truncation_is_a_protocol_violation() {
        for (byte[] whole : new byte[][] {Frames.xlogData(1, 1), Frames.keepalive(1, true)}) {
            for (int length = 0; length < whole.length; length++) {
                byte[] cut = Arrays.copyOf(whole, length);
                assertThatThrownBy(() -> FrameDecoder.decode(cut))
                        .isInstanceOf(ApplyException.class)
                        .extracting("kind")
                        .isEqualTo(ApplyException.Kind.PROTOCOL_VIOLATION);
            }
        }
    }

    @Test
    void times_count_from_the_year_2000() {
        assertThat(FrameDecoder.toInstant(1)).isEqualTo(Instant.parse("2000-01-01T00:00:00.000001Z"));
        assertThat(FrameDecoder.toMicros(Instant.parse("2000-01-01T00:00:01Z"))).isEqualTo(1_000_000);
    }

    @Test
    void a_status_update() {
        assertThat(StatusUpdate.encode(Frames.positions(0x1_0000_002AL, 2, 3), 4, true))
                .isEqualTo(bytes("72 000000010000002A 0000000000000002 0000000000000003 0000000000000004 01"));
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
