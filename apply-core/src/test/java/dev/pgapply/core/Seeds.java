package dev.pgapply.core;

import java.util.Random;

/**
 * Runs a randomized test over seeds 1, 2, 3 … so that every failure can be had again: {@code -Dpgapply.seeds=N} says how many seeds,
 * {@code -Dpgapply.seed=N} runs that one only.
 */
public final class Seeds {

    private static final int SEEDS_OF_A_NORMAL_RUN = 200;

    /** A test of one seed. */
    @FunctionalInterface
    public interface SeededTest {
        void run(Random random);
    }

    private Seeds() {}

    /** Runs the test with the random numbers of each seed; a failure names its seed. */
    public static void forEach(SeededTest test) {
        Long only = Long.getLong("pgapply.seed");
        if (only != null) {
            run(only, test);
            return;
        }
        int seeds = Integer.getInteger("pgapply.seeds", SEEDS_OF_A_NORMAL_RUN);
        for (long seed = 1; seed <= seeds; seed++) {
            run(seed, test);
        }
    }

    private static void run(long seed, SeededTest test) {
        try {
            test.run(new Random(seed));
        } catch (RuntimeException | Error e) {
            throw new AssertionError("failed with seed " + seed + "; again with -Dpgapply.seed=" + seed + ": " + e, e);
        }
    }
}
