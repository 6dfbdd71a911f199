package dev.pgapply.launcher.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.launcher.text.CopyProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProgressDisplayTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    private long nanos = 5;

    private Terminal terminal(boolean interactive) {
        return new Terminal(new PrintStream(bytes, true, StandardCharsets.UTF_8), interactive, 200);
    }

    private String output() {
        String text = bytes.toString(StandardCharsets.UTF_8);
        bytes.reset();
        return text;
    }

    private void after(long seconds) {
        nanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    private void copied(long rows, long bytes) {
        stats.setTable(new TableProgress(new QualifiedName("public", "big"), 'd', null, rows, 1000, bytes, -1, null));
    }

    @AfterEach
    void quiet_again() {
        Logging.configure("error", Logging.Format.TEXT, terminal(false));
    }

    @Test
    void a_terminal_sees_a_bar_with_rate_and_remaining_time() {
        ProgressDisplay display = new ProgressDisplay(List.of(stats), terminal(true), () -> nanos);
        stats.transition(SubscriptionStatus.COPYING, null);
        stats.setTable(new TableProgress(new QualifiedName("public", "small"), 's', null, 10, 5, 100, -1, null));
        copied(0, 0);
        display.tick();
        output();
        after(5);
        copied(500, 5 << 20);

        display.tick();

        assertThat(output())
                .isEqualTo("\r\u001b[Korders copying [##########..........] 50 %, 1 of 2 tables, 510 rows (5.0 MB), "
                        + "1.0 MB/s, about 5.0 s left");
    }

    @Test
    void a_terminal_sees_rates_and_lag_afterwards() {
        ProgressDisplay display = new ProgressDisplay(List.of(stats), terminal(true), () -> nanos);
        stats.transition(SubscriptionStatus.STREAMING, null);
        stats.setConnected(true);
        display.tick();
        output();
        after(2);
        stats.transactions.add(2000);
        stats.updates.add(5000);

        display.tick();

        assertThat(output()).isEqualTo("\r\u001b[Korders streaming 1,000 transactions/s, 2,500 rows/s, lag 0.0 s");
    }

    @Test
    void without_a_terminal_a_copy_is_logged_every_ten_seconds_and_nothing_else() {
        Terminal terminal = terminal(false);
        Logging.configure("info", Logging.Format.TEXT, terminal);
        ProgressDisplay display = new ProgressDisplay(List.of(stats), terminal, () -> nanos);
        stats.transition(SubscriptionStatus.COPYING, null);
        output();
        copied(100, 1000);
        for (int i = 0; i < 9; i++) {
            after(1);
            display.tick();
        }
        assertThat(output()).isEmpty();
        after(1);

        display.tick();

        assertThat(output())
                .contains("INFO ")
                .contains("subscription \"orders\": copying, 10 %, 0 of 1 table, 100 rows");
        stats.transition(SubscriptionStatus.STREAMING, null);
        output();
        after(20);
        display.tick();
        assertThat(output()).isEmpty();
    }

    @Test
    void a_log_line_is_written_above_the_status_line() {
        Terminal terminal = terminal(true);
        terminal.status("status");
        output();

        terminal.print("log\n");

        assertThat(output()).isEqualTo("\r\u001b[Klog\nstatus");
        terminal.status("");
        assertThat(output()).isEqualTo("\r\u001b[K");
    }

    @Test
    void a_long_status_line_is_cut() {
        Terminal narrow = new Terminal(new PrintStream(bytes, true, StandardCharsets.UTF_8), true, 10);

        narrow.status("0123456789abc");

        assertThat(output()).isEqualTo("\r\u001b[K012345678");
    }

    @Test
    void a_bar_fills_from_the_left() {
        assertThat(CopyProgress.bar(0)).isEqualTo("[....................]");
        assertThat(CopyProgress.bar(0.99)).isEqualTo("[####################]");
        assertThat(CopyProgress.of(List.of()).fraction()).isZero();
    }
}
