package dev.pgapply.core.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Seeds;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.InMemoryTable.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The net effect of a batch leaves the rows and meets the conflicts that its changes meet one by one, or says that it cannot: for
 * random transactions, in batches of random size, on targets that are equal to the publisher and on targets that are not.
 */
class CompactionEquivalenceTest {

    private static final int TRANSACTIONS = 40;
    private static final int MAX_STEPS = 12;
    private static final int MAX_ROWS = 60;

    private int batches;
    private int executedAsSets;
    private int executedWithConflicts;

    @Test
    void a_target_equal_to_the_publisher_never_needs_the_exact_path() {
        Seeds.forEach(random -> new Run(random, false, false).run());

        assertThat(executedAsSets).isEqualTo(batches);
    }

    @Test
    void a_target_that_misses_rows_or_has_others_meets_the_same_conflicts() {
        Seeds.forEach(random -> new Run(random, true, false).run());

        assertThat(executedWithConflicts).isPositive();
    }

    @Test
    void unique_values_that_move_between_rows_give_the_same_rows_or_an_error() {
        Seeds.forEach(random -> new Run(random, random.nextBoolean(), true).run());

        assertThat(executedAsSets).isPositive();
    }

    /** One publisher, and two targets that apply what it sends in two ways. */
    private final class Run {
        private final Random random;
        private final boolean unique;
        private final RandomPublisher publisher;
        private final BatchBuilder builder;
        private final InMemoryTarget exact;
        private InMemoryTarget sets;

        Run(Random random, boolean different, boolean unique) {
            this.random = random;
            this.unique = unique;
            this.publisher = new RandomPublisher(random, unique, different);
            this.builder = new BatchBuilder(new BatchLimits(1 + random.nextInt(MAX_ROWS), Long.MAX_VALUE));
            for (int i = 0; i < 30; i++) {
                publisher.change(step -> {});
            }
            this.exact = new InMemoryTarget(random);
            for (InMemoryTable table : publisher.tables) {
                InMemoryTable copy = table.copy();
                if (different) {
                    makeDifferent(copy);
                }
                exact.add(copy);
            }
            this.sets = exact.copy();
        }

        private void makeDifferent(InMemoryTable table) {
            table.rows().removeIf(row -> random.nextInt(3) == 0);
            if (random.nextBoolean()) {
                try {
                    table.add(new InMemoryTable.Row(publisher.randomValues(table), "additional"));
                } catch (RefusedException e) {
                    return; // such a row is there already
                }
            }
        }

        void run() {
            for (int xid = 1; xid <= TRANSACTIONS; xid++) {
                builder.begin(new Xid(xid), new Lsn(100L * xid - 8));
                for (int i = random.nextInt(MAX_STEPS); i > 0; i--) {
                    publisher.change(step -> builder.add(step, 10));
                    if (builder.isFull() && !apply(builder.seal())) {
                        return;
                    }
                }
                builder.commit(Changes.end(100L * xid));
                if (random.nextInt(8) == 0 && !apply(builder.sealAll())) {
                    return;
                }
            }
            apply(builder.seal());
        }

        /** False if a batch cannot be applied, which ends the run. */
        private boolean apply(List<ChangeBatch> sealed) {
            for (ChangeBatch batch : new ArrayList<>(sealed)) {
                if (!apply(batch)) {
                    return false;
                }
            }
            return true;
        }

        private boolean apply(ChangeBatch batch) {
            batches++;
            InMemoryTarget applied = sets.copy();
            boolean asSets = executeAsSets(applied, batch);
            try {
                exact.executeExactly(batch);
            } catch (RefusedException e) {
                // A unique value that a later change frees may be free already for the set; nothing else may pass.
                assertThat(asSets && !unique)
                        .as("sets pass what is refused: %s", e.getMessage())
                        .isFalse();
                return false;
            }
            if (!asSets) {
                applied = sets;
                applied.executeExactly(batch);
            } else {
                executedAsSets++;
                if (applied.conflictCount() > sets.conflictCount()) {
                    executedWithConflicts++;
                }
            }
            sets = applied;
            if (!sets.contents().equals(exact.contents()) || !sets.conflicts().equals(exact.conflicts())) {
                assertThat(sets.contents()).as(Changes.describe(batch)).isEqualTo(exact.contents());
                assertThat(sets.conflicts()).as(Changes.describe(batch)).isEqualTo(exact.conflicts());
            }
            return true;
        }

        private boolean executeAsSets(InMemoryTarget target, ChangeBatch batch) {
            SetPlan plan = batch.plan();
            try {
                return plan != null && target.execute(plan);
            } catch (RefusedException e) {
                return false;
            }
        }
    }
}
