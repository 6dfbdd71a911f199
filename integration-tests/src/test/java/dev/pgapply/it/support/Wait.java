package dev.pgapply.it.support;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.TerminalFailureException;

/** Waiting for a condition with a deadline, on the caller's thread's behalf. */
public final class Wait {

    /** Long enough for anything that should happen soon, on two busy cores. */
    public static final Duration SOON = Duration.ofSeconds(60);

    private Wait() {}

    public static void until(String what, Callable<Boolean> condition) {
        until(what, SOON, condition);
    }

    public static void until(String what, Duration atMost, Callable<Boolean> condition) {
        until(what, atMost, condition, () -> "");
    }

    /**
     * Polls the condition every 50 ms; an exception in it counts as "not yet".
     *
     * @param explanation what to add to the failure's message, asked for only then
     */
    public static void until(String what, Duration atMost, Callable<Boolean> condition, Supplier<String> explanation) {
        until(what, atMost, condition, explanation, () -> false);
    }

    /** @param hopeless whether it is no use to wait any longer */
    static void until(
            String what,
            Duration atMost,
            Callable<Boolean> condition,
            Supplier<String> explanation,
            Callable<Boolean> hopeless) {
        try {
            Awaitility.await(what)
                    .atMost(atMost)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(50))
                    .ignoreExceptions()
                    .failFast("no use to wait any longer", hopeless)
                    .until(condition);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("waited " + atMost.toSeconds() + " s for " + what + "\n" + explanation.get(), e);
        } catch (TerminalFailureException e) {
            throw new AssertionError("waited in vain for " + what + "\n" + explanation.get(), e);
        }
    }
}
