package dev.pgapply.launcher.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.worker.catalog.EnabledRecord.State;
import dev.pgapply.worker.stats.LastError;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SubscriptionSupervisorTest {

    private final List<SupervisorFixture> running = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void everything_ends() throws InterruptedException {
        running.forEach(fixture -> fixture.supervisor.stop());
        for (Thread thread : threads) {
            thread.join(10_000);
            assertThat(thread.isAlive()).isFalse();
        }
    }

    private SupervisorFixture start(SupervisorFixture fixture) {
        Thread thread = new Thread(fixture.supervisor::run);
        thread.start();
        running.add(fixture);
        threads.add(thread);
        return fixture;
    }

    private static ApplyException failure(Kind kind) {
        return new ApplyException(kind, "it failed");
    }

    @Test
    void a_lost_connection_is_tried_again_with_waits_that_double_to_ten_seconds() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false);
        for (int i = 0; i < 8; i++) {
            fixture.thenFail(failure(Kind.CONNECTION));
        }

        fixture.run();

        long[] nominal = {1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000};
        assertThat(fixture.waits).hasSize(8);
        for (int i = 0; i < nominal.length; i++) {
            assertThat(fixture.waits.get(i).toMillis()).isBetween(nominal[i] * 8 / 10, nominal[i] * 12 / 10);
        }
        assertThat(fixture.stats.retries.sum()).isEqualTo(8);
        assertThat(fixture.stats.applyErrors.sum()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"AUTHENTICATION", "SLOT_LOST", "STATE_MISMATCH", "PRECONDITION", "CONFIGURATION"})
    void what_only_a_person_can_mend_is_looked_at_every_ten_seconds(Kind kind) {
        SupervisorFixture fixture =
                SupervisorFixture.scripted(true).thenFail(failure(kind)).thenFail(failure(kind));

        fixture.run();

        assertThat(fixture.waits).containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(10));
        assertThat(fixture.record.state.enabled()).isTrue();
        assertThat(fixture.stats.applyErrors.sum()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void each_remedy_has_its_status(Kind kind) {
        List<SubscriptionStatus> seen = new ArrayList<>();
        SupervisorFixture fixture = SupervisorFixture.scripted(false).thenFail(failure(kind));
        fixture.then(() -> seen.add(fixture.stats.status()));

        fixture.run();

        SubscriptionStatus expected = switch (kind.remedy()) {
            case RECONNECT -> SubscriptionStatus.RECONNECTING;
            case RETRY_OR_DISABLE, STOP, REFUSE -> SubscriptionStatus.ERROR;
        };
        assertThat(seen).containsExactly(expected);
        assertThat(fixture.stats.status()).isEqualTo(SubscriptionStatus.STOPPING);
    }

    @Test
    void progress_makes_the_waits_short_again() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false)
                .thenFail(failure(Kind.CONNECTION))
                .thenFail(failure(Kind.CONNECTION))
                .thenFail(failure(Kind.CONNECTION));
        fixture.then(() -> {
            fixture.stats.transactions.increment();
            throw failure(Kind.CONNECTION);
        });
        fixture.then(() -> {
            fixture.nanos += TimeUnit.MINUTES.toNanos(2);
            throw failure(Kind.CONNECTION);
        });
        fixture.then(() -> {
            fixture.stats.setFeedback(new Lsn(5), new Lsn(5), new Lsn(5));
            throw failure(Kind.CONNECTION);
        });

        fixture.run();

        assertThat(fixture.waits).hasSize(6);
        assertThat(fixture.waits.subList(3, 6)).allMatch(wait -> wait.toMillis() <= 1200);
    }

    @Test
    void nothing_is_tried_more_than_about_once_a_second_even_after_progress() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false);
        for (int i = 0; i < 100; i++) {
            fixture.then(() -> {
                fixture.stats.transactions.increment();
                throw failure(Kind.DATA);
            });
        }

        fixture.run();

        assertThat(fixture.waits).hasSize(100).allMatch(wait -> wait.toMillis() >= 800);
        assertThat(fixture.waits.stream().mapToLong(Duration::toMillis).sum()).isGreaterThan(95_000);
    }

    @Test
    void an_error_is_shown_with_its_place_and_counted_while_it_comes_again() {
        ApplyException.Context place =
                new ApplyException.Context("processing remote data", "public.t", new Xid(731), new Lsn(16));
        ApplyException failure =
                ApplyException.withHint(Kind.DATA, "it failed", "mend it").in(place);
        SupervisorFixture fixture = SupervisorFixture.scripted(false)
                .thenFail(failure)
                .thenFail(failure)
                .thenFail(failure);

        fixture.run();

        assertThat(fixture.stats.lastError())
                .isEqualTo(new LastError(
                        "it failed",
                        "processing remote data",
                        "public.t",
                        new Xid(731),
                        new Lsn(16),
                        SupervisorFixture.NOW,
                        3,
                        "mend it"));
        assertThat(fixture.stats.applyErrors.sum()).isEqualTo(3);
    }

    @Test
    void another_error_begins_a_new_count() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false)
                .thenFail(failure(Kind.DATA))
                .thenFail(failure(Kind.DATA))
                .thenFail(new ApplyException(Kind.DATA, "another"));

        fixture.run();

        assertThat(fixture.stats.lastError()).extracting("message", "count").containsExactly("another", 1L);
    }

    @Test
    void a_tables_copy_error_is_no_apply_error() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false);
        fixture.then(() -> {
                    fixture.stats.syncTableErrors.increment();
                    throw failure(Kind.DATA);
                })
                .thenFail(failure(Kind.DATA));

        fixture.run();

        assertThat(fixture.stats.applyErrors.sum()).isEqualTo(1);
    }

    @Test
    void a_defect_is_an_internal_error_and_the_supervisor_lives_on() {
        SupervisorFixture fixture = SupervisorFixture.scripted(false);
        fixture.then(() -> {
                    throw new IllegalStateException("oops");
                })
                .then(() -> {
                    throw new StackOverflowError();
                });

        fixture.run();

        assertThat(fixture.lives).isEqualTo(2);
        assertThat(fixture.stats.lastError())
                .extracting("message")
                .isEqualTo("unexpected failure: java.lang.StackOverflowError");
    }

    @Test
    void disable_on_error_disables_and_records_it_for_errors_of_the_data_only() {
        SupervisorFixture fixture = SupervisorFixture.scripted(true)
                .thenFail(failure(Kind.CONNECTION))
                .thenFail(failure(Kind.DATA));

        fixture.run();

        assertThat(fixture.lives).isEqualTo(2);
        assertThat(fixture.supervisor.isEnabled()).isFalse();
        assertThat(fixture.record.state).isEqualTo(new State(false, "because of an error: it failed"));
        assertThat(fixture.stats.lastError()).extracting("message").isEqualTo("it failed");
    }

    @Test
    void what_cannot_be_recorded_is_tried_until_it_can() {
        SupervisorFixture fixture = SupervisorFixture.scripted(true);
        fixture.then(() -> {
            fixture.record.known = false;
            throw failure(Kind.DATA);
        });

        fixture.run();

        assertThat(fixture.waits).hasSizeGreaterThan(2).allMatch(Duration.ofSeconds(10)::equals);
        assertThat(fixture.lives).isEqualTo(1);
    }

    @Test
    void a_subscription_disabled_in_the_target_does_not_start_and_starts_when_it_is_enabled_there() {
        SupervisorFixture fixture = SupervisorFixture.living("orders", true);
        fixture.record.state = new State(false, "because of an error: x");
        start(fixture);
        await().until(() -> fixture.stats.status() == SubscriptionStatus.DISABLED);
        assertThat(fixture.stats.statusReason()).isEqualTo("because of an error: x");

        fixture.supervisor.enable();

        assertThat(fixture.record.state).isEqualTo(new State(true, null));
        assertThat(fixture.supervisor.isEnabled()).isTrue();
        assertThat(fixture.stats.status()).isEqualTo(SubscriptionStatus.STARTING);
    }

    @Test
    void disable_ends_the_life_and_is_recorded_and_enable_begins_another() {
        SupervisorFixture fixture = start(SupervisorFixture.living("orders", true));

        fixture.supervisor.disable();

        assertThat(fixture.stats.status()).isEqualTo(SubscriptionStatus.DISABLED);
        assertThat(fixture.record.state).isEqualTo(new State(false, "disabled by an operator"));
        fixture.supervisor.disable();
        fixture.supervisor.enable();
        fixture.supervisor.enable();
        assertThat(fixture.record.state.enabled()).isTrue();
        assertThat(fixture.supervisor.isEnabled()).isTrue();
    }

    @Test
    void a_disable_is_recorded_before_the_life_ends_so_that_no_standby_goes_on() {
        SupervisorFixture fixture = start(SupervisorFixture.living("orders", true));
        await().until(fixture::isLiving);

        fixture.supervisor.disable();

        assertThat(fixture.enabledWhenStopped).isFalse();
    }

    @Test
    void a_disable_that_cannot_be_recorded_holds_in_the_process_and_says_so() {
        SupervisorFixture fixture = start(SupervisorFixture.living("orders", true));
        await().until(() -> fixture.supervisor.isEnabled());
        fixture.record.failure = failure(Kind.CONNECTION);

        assertThatThrownBy(fixture.supervisor::disable).isInstanceOf(ApplyException.class);

        assertThat(fixture.supervisor.isEnabled()).isFalse();
        assertThatThrownBy(fixture.supervisor::enable).isInstanceOf(ApplyException.class);
        assertThat(fixture.supervisor.isEnabled()).isFalse();
    }

    @Test
    void enabled_false_in_the_configuration_wins() {
        SupervisorFixture fixture = start(SupervisorFixture.living("orders", false));

        assertThat(fixture.stats.status()).isEqualTo(SubscriptionStatus.DISABLED);
        assertThatThrownBy(fixture.supervisor::enable)
                .isInstanceOf(Refusal.class)
                .hasMessage("subscription \"orders\" is disabled in the configuration");
        fixture.supervisor.disable();
        assertThat(fixture.record.state.enabled()).isTrue();
    }

    @Test
    void a_standby_refuses_and_names_the_holder() {
        SupervisorFixture fixture = start(SupervisorFixture.living("orders", true));
        fixture.stats.transition(SubscriptionStatus.STANDBY, "pid 4711, \"pgapply orders owner\"");

        assertThatThrownBy(fixture.supervisor::disable)
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("pid 4711");
        assertThatThrownBy(fixture.supervisor::enable)
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("pid 4711");
    }

    @Test
    void all_subscriptions_stop_together() {
        SupervisorFixture one = SupervisorFixture.living("one", true);
        SupervisorFixture two = SupervisorFixture.living("two", true);
        ApplyLauncher launcher = new ApplyLauncher(List.of(one.supervisor, two.supervisor));
        launcher.start();

        boolean ended = launcher.stop(Duration.ofSeconds(10));

        assertThat(ended).isTrue();
        assertThat(List.of(one.stats.status(), two.stats.status())).containsOnly(SubscriptionStatus.STOPPING);
        assertThatThrownBy(one.supervisor::disable).isInstanceOf(Refusal.class);
        assertThat(launcher.find("two")).isSameAs(two.supervisor);
        assertThat(launcher.find("three")).isNull();
    }
}
