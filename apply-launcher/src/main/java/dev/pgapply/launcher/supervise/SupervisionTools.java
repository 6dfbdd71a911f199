package dev.pgapply.launcher.supervise;

import dev.pgapply.worker.stream.Ticker;
import java.time.Clock;
import java.util.random.RandomGenerator;

/** Time and chance for one supervising thread, given from outside so that a test can be both. */
public record SupervisionTools(Clock clock, Ticker ticker, RandomGenerator random, Pause pause) {

    public SupervisionTools(Clock clock, Ticker ticker, RandomGenerator random) {
        this(clock, ticker, random, Pause.ofThreads());
    }
}
