package dev.pgapply.core.spool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Seeds;
import dev.pgapply.core.Xid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is left in the spool of random interleaved transactions with random trees of subtransactions is what a publisher would say is
 * left: the changes of no aborted subtransaction.
 */
class SpoolModelTest {

    private static final int STEPS = 120;
    private static final int TRANSACTIONS = 3;

    @TempDir
    private Path directory;

    @Test
    void the_spool_holds_what_no_aborted_subtransaction_has_changed() {
        Seeds.forEach(random -> {
            SpoolDirectory spool = SpoolDirectory.open(directory, 16_395, 0);
            run(spool, random);
            assertThat(spool.byteCount()).isZero();
            assertThat(directory).isEmptyDirectory();
        });
    }

    private static void run(SpoolDirectory spool, Random random) {
        Xids xids = new Xids(random);
        List<Publishing> running = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            if (running.size() < TRANSACTIONS) {
                running.add(new Publishing(spool, xids, random));
            }
            Publishing transaction = running.get(random.nextInt(running.size()));
            switch (random.nextInt(12)) {
                case 0 -> transaction.savepoint();
                case 1 -> transaction.release();
                case 2, 3 -> transaction.rollbackToSavepoint();
                case 4 -> {
                    if (random.nextInt(8) == 0) {
                        transaction.end(random.nextBoolean());
                        running.remove(transaction);
                    }
                }
                default -> transaction.streamBlock();
            }
            assertThat(spool.byteCount())
                    .isEqualTo(running.stream().mapToLong(Publishing::byteCount).sum());
        }
        running.forEach(transaction -> transaction.end(true));
    }

    /** Hands out xids; a subtransaction may get its xid before or after one that began later. */
    private static final class Xids {
        private final List<Integer> next = new ArrayList<>();
        private final Random random;
        private int last = 1_000;

        Xids(Random random) {
            this.random = random;
        }

        Xid next() {
            while (next.size() < 5) {
                next.add(++last);
            }
            return new Xid(next.remove(random.nextInt(next.size())));
        }
    }

    /** A subtransaction, or the toplevel one. It has an xid once it has changed something. */
    private static final class Level {
        final Xid xid;
        final List<Level> children = new ArrayList<>();

        Level(Xid xid) {
            this.xid = xid;
        }

        /** Its own xid and those of all below it. */
        List<Xid> family() {
            List<Xid> family = new ArrayList<>();
            for (Level child : children) {
                family.addAll(child.family());
            }
            family.add(xid);
            return family;
        }
    }

    private record Change(Xid xid, String text) {}

    /** A transaction as its publisher sees it, and the spool that follows what is sent. */
    private static final class Publishing {
        private final SpoolWriter writer;
        private final Xids xids;
        private final Random random;
        private final List<Level> open = new ArrayList<>();
        private final List<Change> changes = new ArrayList<>();
        private int written;

        Publishing(SpoolDirectory spool, Xids xids, Random random) {
            this.xids = xids;
            this.random = random;
            open.add(new Level(xids.next()));
            writer = spool.create(open.get(0).xid);
        }

        void savepoint() {
            Level child = new Level(xids.next());
            current().children.add(child);
            open.add(child);
        }

        private Level current() {
            return open.get(open.size() - 1);
        }

        void release() {
            if (open.size() > 1) {
                open.remove(open.size() - 1);
            }
        }

        /** Down to one of the open savepoints; the publisher sends an abort for each subtransaction below, in whatever order. */
        void rollbackToSavepoint() {
            if (open.size() == 1) {
                return;
            }
            int level = 1 + random.nextInt(open.size() - 1);
            Level target = open.get(level);
            open.subList(level, open.size()).clear();
            current().children.remove(target);
            List<Xid> aborted = target.family();
            if (random.nextBoolean()) {
                Collections.shuffle(aborted, random);
            }
            aborted.forEach(writer::abortSubtransaction);
            Set<Xid> gone = new HashSet<>(aborted);
            changes.removeIf(change -> gone.contains(change.xid()));
        }

        void streamBlock() {
            writer.openBlock();
            for (int i = random.nextInt(4); i > 0; i--) {
                Change change = new Change(current().xid, "change " + written++ + "x".repeat(random.nextInt(300)));
                changes.add(change);
                byte[] message = SpoolMessages.insert(change.xid(), change.text());
                writer.append(change.xid(), message, 0, message.length);
                if (random.nextInt(3) == 0) {
                    savepoint();
                }
            }
            writer.closeBlock();
        }

        long byteCount() {
            long subxacts = changes.stream()
                    .map(Change::xid)
                    .filter(xid -> !xid.equals(writer.xid()))
                    .distinct()
                    .count();
            return subxacts * 12
                    + changes.stream()
                            .mapToLong(change -> 4 + SpoolMessages.insert(change.xid(), change.text()).length)
                            .sum();
        }

        void end(boolean committed) {
            if (committed && Files.exists(writer.contents().file())) {
                byte[][] expected = changes.stream()
                        .map(change -> SpoolMessages.insert(change.xid(), change.text()))
                        .toArray(byte[][]::new);
                assertThat(size(writer.contents().file()))
                        .isEqualTo(writer.contents().length());
                assertThat(SpoolMessages.read(writer.contents()).toArray(byte[][]::new))
                        .isDeepEqualTo(expected);
            }
            writer.delete();
        }

        private static long size(Path file) {
            try {
                return Files.size(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
