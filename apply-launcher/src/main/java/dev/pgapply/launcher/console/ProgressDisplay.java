package dev.pgapply.launcher.console;

import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.Ticker;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows what the subscriptions are doing: on a terminal a status line, renewed every second; else a log line every ten seconds for
 * each that copies. Has a thread of its own, {@code progress}.
 */
public final class ProgressDisplay implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ProgressDisplay.class);
    private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final List<SubscriptionLine> lines;
    private final List<SubscriptionStats> subscriptions;
    private final Terminal terminal;
    private final Ticker ticker;
    private final CountDownLatch closed = new CountDownLatch(1);
    private long lastLog;

    public ProgressDisplay(List<SubscriptionStats> subscriptions, Terminal terminal, Ticker ticker) {
        this.subscriptions = List.copyOf(subscriptions);
        this.lines = subscriptions.stream().map(SubscriptionLine::new).toList();
        this.terminal = terminal;
        this.ticker = ticker;
        this.lastLog = ticker.nanos();
    }

    public void start() {
        Thread thread = new Thread(this::run, "progress");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                tick();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        terminal.status("");
    }

    /** One look; called every second. */
    void tick() {
        long now = ticker.nanos();
        if (terminal.isInteractive()) {
            terminal.status(lines.stream().map(line -> line.render(now)).collect(Collectors.joining(" | ")));
            return;
        }
        if (now - lastLog < LOG_EVERY_NANOS) {
            return;
        }
        lastLog = now;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).isCopying() && log.isInfoEnabled()) {
                log.info(
                        "subscription \"{}\": copying, {}",
                        subscriptions.get(i).subscription(),
                        lines.get(i).renderCopy(now));
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
