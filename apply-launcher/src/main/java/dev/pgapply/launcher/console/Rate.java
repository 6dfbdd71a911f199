package dev.pgapply.launcher.console;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** How fast a counter grows, over the last few seconds. Owned by one thread. */
final class Rate {

    private static final Duration WINDOW = Duration.ofSeconds(10);

    private record Sample(long nanos, long value) {}

    private final Deque<Sample> samples = new ArrayDeque<>();

    /** Adds what the counter says now, and gives its growth a second; 0 before there are two samples. */
    double add(long nanos, long value) {
        samples.addLast(new Sample(nanos, value));
        while (samples.size() > 2 && nanos - samples.getFirst().nanos() > WINDOW.toNanos()) {
            samples.removeFirst();
        }
        Sample first = samples.getFirst();
        long elapsed = nanos - first.nanos();
        return elapsed <= 0 ? 0 : (value - first.value()) * 1e9 / elapsed;
    }
}
