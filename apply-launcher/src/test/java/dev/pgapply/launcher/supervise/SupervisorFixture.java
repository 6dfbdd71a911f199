package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.EnabledRecord;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A supervisor whose worker follows a script, whose waits pass at once, and whose record is a field. */
public final class SupervisorFixture {

    public static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

    /** What a life does; may throw. */
    public interface Life {
        void live();
    }

    /** The record in the target; a failure is thrown by each call. */
    public static final class FakeRecord implements EnabledRecord {
        public volatile @Nullable ApplyException failure;
        public volatile State state = new State(true, null);
        public volatile boolean known = true;

        @Override
        public State read() {
            fail();
            return state;
        }

        @Override
        public boolean store(@Nullable String disabledReason) {
            fail();
            if (known) {
                state = new State(disabledReason == null, disabledReason);
            }
            return known;
        }

        private void fail() {
            ApplyException toThrow = failure;
            if (toThrow != null) {
                throw toThrow;
            }
        }
    }

    /** Lives until it is stopped. */
    private final class LivingWorker implements Worker {
        private final CountDownLatch stopped = new CountDownLatch(1);

        @Override
        public void run() {
            living = true;
            try {
                stopped.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void stop() {
            enabledWhenStopped = record.state.enabled();
            stopped.countDown();
        }

        @Override
        public void refresh() {
            command("refresh");
        }

        @Override
        public void resync(QualifiedName table) {
            command("resync " + table);
        }

        private void command(String given) {
            ApplyException toThrow = refusal;
            if (toThrow != null) {
                throw toThrow;
            }
            commands.add(given);
        }
    }

    final Deque<Life> script = new ArrayDeque<>();
    final List<Duration> waits = new ArrayList<>();
    public final FakeRecord record = new FakeRecord();
    public final SubscriptionStats stats;
    public final SubscriptionSupervisor supervisor;
    public final List<String> commands = new CopyOnWriteArrayList<>();
    public volatile @Nullable ApplyException refusal;
    long nanos;
    int lives;
    volatile boolean enabledWhenStopped = true;
    private volatile boolean living;

    private SupervisorFixture(SubscriptionOptions options, boolean scripted) {
        Clock clock = Clock.fixed(NOW, ZoneOffset.UTC);
        stats = new SubscriptionStats(options.name(), clock);
        SupervisionTools tools = scripted
                ? new SupervisionTools(clock, () -> nanos, new Random(1), new RecordingPause())
                : new SupervisionTools(clock, () -> nanos, new Random(1));
        supervisor = new SubscriptionSupervisor(
                options, stats, scripted ? ScriptedWorker::new : LivingWorker::new, record, tools);
    }

    /** Lives follow the script; {@link #run} ends with it. */
    public static SupervisorFixture scripted(boolean disableOnError) {
        return new SupervisorFixture(options("orders", true, disableOnError), true);
    }

    /** Lives last until they are stopped. */
    public static SupervisorFixture living(String name, boolean enabled) {
        return new SupervisorFixture(options(name, enabled, false), false);
    }

    public static SubscriptionOptions options(String name, boolean enabled, boolean disableOnError) {
        return new SubscriptionOptions(
                name,
                ConnectionUrl.parse("postgresql://repl:hush@db1/shop", null, "me"),
                ConnectionUrl.parse("postgresql://app:hush@db2/shop", null, "me"),
                List.of("pub"),
                "orders",
                enabled,
                true,
                true,
                CreateTables.NONE,
                StreamingMode.OFF,
                false,
                BinaryMode.AUTO,
                SubscriptionOptions.Origin.ANY,
                "off",
                disableOnError,
                2,
                2,
                Duration.ofSeconds(10),
                Duration.ZERO,
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                1 << 20,
                new BatchLimits(10, 1 << 20),
                0);
    }

    SupervisorFixture then(Life life) {
        script.add(life);
        return this;
    }

    SupervisorFixture thenFail(ApplyException failure) {
        return then(() -> {
            throw failure;
        });
    }

    public boolean isLiving() {
        return living;
    }

    void run() {
        supervisor.run();
    }

    private final class ScriptedWorker implements Worker {
        @Override
        public void run() {
            Life life = script.poll();
            if (life == null) {
                supervisor.stop();
                return;
            }
            lives++;
            life.live();
        }

        @Override
        public void stop() {
            // A scripted life ends by itself.
        }

        @Override
        public void refresh() {
            throw new UnsupportedOperationException("a scripted life takes no commands");
        }

        @Override
        public void resync(QualifiedName table) {
            throw new UnsupportedOperationException("a scripted life takes no commands");
        }
    }

    /** Notes each wait. While disabled nobody lives, so the script's end is found here. */
    private final class RecordingPause implements Pause {
        @Override
        public void await(Duration atMost) {
            waits.add(atMost);
            if (!supervisor.isEnabled() && waits.size() > 3) {
                supervisor.stop();
            }
        }

        @Override
        public void wake() {
            // Nobody waits.
        }
    }
}
