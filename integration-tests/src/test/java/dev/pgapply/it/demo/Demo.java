package dev.pgapply.it.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A shop's database is copied to a second server and followed there under load, while the engine is killed and started again once.
 * It ends after {@code -Ddemo.seconds} or on Ctrl-C, with a comparison of every table on both sides, and exit code 0 only if all are
 * equal. The main thread does all of it; on Ctrl-C the shutdown hook tells it to finish and waits.
 */
public final class Demo {

    private static final Duration REPORT = Duration.ofSeconds(5);

    private final long start = System.nanoTime();
    private final Duration length = Duration.ofSeconds(Integer.getInteger("demo.seconds", 60));
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile int exit = 1;

    private Demo() {}

    public static void main(String[] arguments) {
        Demo demo = new Demo();
        Runtime.getRuntime().addShutdownHook(new Thread(demo::endFromOutside, "demo-end"));
        demo.run();
        System.exit(demo.exit);
    }

    /** Ctrl-C: the run goes on to its comparison, then the process ends with its result. */
    private void endFromOutside() {
        if (finished.getCount() == 0) {
            return;
        }
        say("ending");
        asked.countDown();
        try {
            finished.await(2, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(exit);
    }

    private void run() {
        try (PostgresServer publisher = PostgresServer.publisher(RunOptions.publisherVersion())
                        .unhurried()
                        .endedByCaller()
                        .start();
                PostgresServer target = PostgresServer.target(RunOptions.targetVersion())
                        .unhurried()
                        .endedByCaller()
                        .start()) {
            follow(publisher.createDatabase("shop"), target.createDatabase("shop"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | AssertionError e) {
            say("the demo failed: " + e.getMessage());
        } finally {
            finished.countDown();
        }
    }

    private void follow(Database publisher, Database target) throws InterruptedException {
        introduce("publisher", publisher);
        introduce("target   ", target);
        Shop shop = new Shop(publisher);
        shop.open(target);
        say("the shop is open: 6 tables with " + number(Shop.ROWS)
                + " rows on the publisher; the target's tables are empty");
        EngineConfig config = EngineConfig.subscription("shop")
                .from(publisher)
                .to(target)
                .publications("shop_pub")
                .build();
        try (EngineProcess engine =
                EngineProcess.of(config).heap("256m").tuned().endedByCaller().start()) {
            say("the engine runs (pid " + engine.pid() + "); its configuration: " + config.file());
            say("its REST interface: curl " + engine.rest().base() + "/api/v1/subscriptions/shop");
            say("its log:            " + config.file().resolveSibling("engine.log"));
            awaitCopy(engine, target);
            shop.start(4, RunOptions.seed());
            say("four customers order, pay, return and cancel");
            workload(shop, engine);
            shop.close();
            say("the shop is closed after " + number(shop.transactions()) + " transactions; waiting for the target");
            engine.awaitCaughtUp();
            exit = compare(publisher, target) ? 0 : 1;
            engine.stop();
        }
    }

    private void introduce(String role, Database database) {
        say(role + " is " + database.server() + ": psql " + database.libpqUrl());
    }

    private void awaitCopy(EngineProcess engine, Database target) throws InterruptedException {
        engine.awaitStatus("copying", "catching_up", "streaming", "error");
        String shown = "";
        while (asked.getCount() > 0) {
            String status = engine.status().path("status").asText();
            if (!status.equals(shown)) {
                say("the subscription is " + status);
                shown = status;
            }
            if (status.equals("error")) {
                throw new IllegalStateException(
                        engine.status().path("last_error").path("message").asText());
            }
            if (status.equals("streaming")) {
                break;
            }
            asked.await(100, TimeUnit.MILLISECONDS);
        }
        say("the initial copy is done: " + number(target.number("SELECT count(*) FROM order_line"))
                + " order lines on the target");
    }

    /** Until the time is over: a report every few seconds, a large transaction now and then, one kill in the middle. */
    private void workload(Shop shop, EngineProcess engine) throws InterruptedException {
        Duration left = length.minus(elapsed());
        Duration killAt = elapsed().plus(left.isNegative() ? Duration.ZERO : left.dividedBy(2));
        boolean killed = false;
        int reports = 0;
        while (!killed || elapsed().compareTo(length) < 0) {
            if (!killed && elapsed().compareTo(killAt) >= 0) {
                killAndStart(shop, engine);
                killed = true;
            }
            if (asked.await(
                    Math.min(
                            REPORT.toMillis(),
                            Math.max(100, length.minus(elapsed()).toMillis())),
                    TimeUnit.MILLISECONDS)) {
                return;
            }
            report(shop, engine);
            if (reports++ % 2 == 0) {
                say("one large transaction has touched " + number(shop.inventory()) + " rows");
            }
        }
    }

    private void killAndStart(Shop shop, EngineProcess engine) throws InterruptedException {
        say("kill -9 of the engine; the shop stays open");
        engine.killNine();
        long before = shop.transactions();
        if (asked.await(3, TimeUnit.SECONDS)) {
            say("the engine is started once more, to catch up");
        }
        say(number(shop.transactions() - before) + " transactions later the engine is started again");
        engine.start();
        engine.awaitStatus("catching_up", "streaming");
        JsonNode origin = engine.rest().subscription("shop", "origin");
        say("the engine runs (pid " + engine.pid() + "); the target told it to resume at "
                + origin.path("remote_lsn").asText());
    }

    private void report(Shop shop, EngineProcess engine) {
        JsonNode status = engine.status();
        JsonNode lag = status.path("lag");
        say(number(shop.transactions()) + " transactions; the engine is "
                + status.path("status").asText() + ", applied up to "
                + status.path("apply_lsn").asText() + ", behind by "
                + lag.path("bytes").asText("?") + " bytes, "
                + lag.path("seconds").asText("?") + " s");
    }

    private boolean compare(Database publisher, Database target) {
        TableComparison comparison = TableComparison.of(publisher, target);
        boolean allEqual = true;
        System.out.printf("%n%-20s %12s %12s%n", "table", "publisher", "target");
        for (String table : comparison.tables()) {
            boolean equal = comparison.isSame(table);
            allEqual &= equal;
            String count = "SELECT count(*) FROM " + table;
            System.out.printf(
                    Locale.ROOT,
                    "%-20s %,12d %,12d  %s%n",
                    table,
                    publisher.number(count),
                    target.number(count),
                    equal ? "equal" : "DIFFERENT");
        }
        System.out.println(allEqual ? "every table is equal on both sides" : "the tables are not equal");
        return allEqual;
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private void say(String what) {
        System.out.printf(Locale.ROOT, "%6.1f s  %s%n", elapsed().toMillis() / 1000.0, what);
    }
}
