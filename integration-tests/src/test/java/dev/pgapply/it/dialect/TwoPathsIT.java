package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * DESIGN section 4: the fast path and the exact path give the same tables, missing rows and errors for whatever comes, on targets that
 * also have missing rows, rows and columns of their own.
 */
class TwoPathsIT {

    /** After so many rounds publisher and targets are emptied, because local changes add up to conflicts. */
    private static final int ROUNDS_TO_RESET = 8;

    /** What has no net effect, because triggers watch, is executed in its order: they see the same, in the same order. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void steps_sent_together_do_what_they_do_one_by_one(boolean binary) {
        long seed = RunOptions.seed();
        System.out.println("TwoPathsIT seed " + seed + ": rerun with -Dpgapply.seed=" + seed);
        int rounds = Math.max(1, RunOptions.seeds() / 10);
        List<String> onTargets = Stream.concat(RandomChanges.ON_TARGETS.stream(), RandomChanges.WATCHED.stream())
                .toList();
        try (DialectFixture both =
                DialectFixture.by(DialectTarget.Path.IN_ORDER, binary, RandomChanges.DDL, onTargets)) {
            for (int round = 0; round < rounds; round++) {
                Random random = new Random((seed + round) * 0x9E3779B97F4A7C15L);
                String description = "seed " + seed + " round " + round;
                if (round % ROUNDS_TO_RESET == 0) {
                    reset(both);
                    both.changeTargets("TRUNCATE audit");
                }
                round(both, new RandomChanges(random), random, description);
                assertThat(both.fast().rows(RandomChanges.SEEN))
                        .as("what the triggers saw, " + description)
                        .isEqualTo(both.exact().rows(RandomChanges.SEEN));
            }
            System.out.println("TwoPathsIT: " + both.fast().changes() + " changes in order, "
                    + both.fast().replays() + " replays");
            assertThat(both.fast().fastBatches()).isGreaterThan(rounds / 2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void both_paths_leave_the_same_tables_and_find_the_same_rows_missing(boolean binary) {
        long seed = RunOptions.seed();
        System.out.println("TwoPathsIT seed " + seed + ": rerun with -Dpgapply.seed=" + seed);
        int rounds = Math.max(1, RunOptions.seeds() / 2);
        try (DialectFixture both =
                DialectFixture.with(DatabasePair.shared(), binary, RandomChanges.DDL, RandomChanges.ON_TARGETS)) {
            for (int round = 0; round < rounds; round++) {
                // Neighbouring seeds begin alike.
                Random random = new Random((seed + round) * 0x9E3779B97F4A7C15L);
                String description = "seed " + seed + " round " + round;
                if (round % ROUNDS_TO_RESET == 0) {
                    reset(both);
                }
                round(both, new RandomChanges(random), random, description);
            }
            System.out.println("TwoPathsIT: " + both.fast().changes() + " changes, "
                    + both.fast().fastBatches() + " fast batches, "
                    + both.fast().replays() + " replays, " + both.fast().missing() + " missing rows");
            assertThat(both.fast().fastBatches()).isGreaterThan(rounds / 10);
            reset(both);
            both.replicate(new RandomChanges(new Random(seed)).transactions().toArray(String[]::new));
            both.assertSame("nk", "ff", "tb", "tf");
        }
    }

    private static void reset(DialectFixture both) {
        String truncate = "TRUNCATE " + String.join(", ", RandomChanges.TABLES);
        both.publisher().execute(truncate);
        both.skip();
        both.changeTargets(truncate);
    }

    private static void round(DialectFixture both, RandomChanges changes, Random random, String description) {
        int locals = random.nextBoolean() ? 1 + random.nextInt(4) : 0;
        for (int i = 0; i < locals; i++) {
            both.changeTargets(changes.localChange());
        }
        List<String> transactions = changes.transactions();
        both.publisher().execute(transactions.toArray(String[]::new));
        List<PgOutputMessage> messages = both.next();
        String fastError = apply(both.fast(), messages);
        String exactError = apply(both.exact(), messages);

        String context = description + "\n" + String.join("\n", transactions);
        assertThat(fastError).as(context).isEqualTo(exactError);
        for (String table : RandomChanges.TABLES) {
            assertThat(both.fast().rows(table))
                    .as(table + " after " + context)
                    .isEqualTo(both.exact().rows(table));
        }
        assertThat(both.fast().missing()).as(context).isEqualTo(both.exact().missing());
    }

    private static String apply(DialectTarget target, List<PgOutputMessage> messages) {
        try {
            target.apply(messages);
            return "";
        } catch (ApplyException e) {
            return e.kind() + " " + e.getMessage();
        }
    }
}
