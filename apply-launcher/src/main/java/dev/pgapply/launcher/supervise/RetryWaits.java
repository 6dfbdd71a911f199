package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait before the next life: 1 s, doubling to 10 s, each 20 % more or less so that many engines do not come back at
 * once. Refused credentials and what only a person can mend always wait 10 s. Owned by the supervising thread.
 */
final class RetryWaits {

    private static final Duration FIRST = Duration.ofSeconds(1);
    static final Duration LONGEST = Duration.ofSeconds(10);
    private static final double SPREAD = 0.2;

    private final RandomGenerator random;
    private Duration next = FIRST;

    RetryWaits(RandomGenerator random) {
        this.random = random;
    }

    Duration after(ApplyException failure) {
        Remedy remedy = failure.kind().remedy();
        if (failure.kind() == Kind.AUTHENTICATION || remedy == Remedy.STOP || remedy == Remedy.REFUSE) {
            return LONGEST;
        }
        Duration wait = next;
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
        return Duration.ofMillis(Math.round(wait.toMillis() * random.nextDouble(1 - SPREAD, 1 + SPREAD)));
    }

    /** After progress: the next failure is a new one. */
    void reset() {
        next = FIRST;
    }
}
