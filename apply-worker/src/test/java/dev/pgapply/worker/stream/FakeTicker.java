package dev.pgapply.worker.stream;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A hand that only the test turns. */
public final class FakeTicker implements Ticker {

    private final AtomicLong nanos = new AtomicLong(42);

    @Override
    public long nanos() {
        return nanos.get();
    }

    public void advance(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }
}
