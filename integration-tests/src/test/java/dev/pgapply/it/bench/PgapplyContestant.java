package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * pgapply as a process of its own, cold, as people run it.
 *
 * @param label what is special about it
 * @param options further keys of the subscription, with their values as YAML
 * @param jvmOptions of the JVM
 * @param toTarget how long each direction of the way to the target takes
 */
record PgapplyContestant(String label, Map<String, String> options, List<String> jvmOptions, Duration toTarget)
        implements Contestant {

    /** {@code -Dbench.jfr=true}: a flight recording of each round, as {@code target/<slot>.jfr}. */
    private static final boolean RECORDED = Boolean.getBoolean("bench.jfr");

    /** {@code -Dbench.jvm="-XX:+UseSerialGC …"}: options of the JVM to try. */
    private static final List<String> JVM_OPTIONS = Arrays.stream(
                    System.getProperty("bench.jvm", "").split(" ", -1))
            .filter(option -> !option.isBlank())
            .toList();

    static PgapplyContestant usual() {
        return new PgapplyContestant("", Map.of(), List.of(), Duration.ZERO);
    }

    static PgapplyContestant text() {
        return new PgapplyContestant("text", Map.of("binary", "false"), List.of(), Duration.ZERO);
    }

    /** With the JVM's options that the README names for a machine with few cores. */
    static PgapplyContestant fewCores() {
        return new PgapplyContestant(
                "few_cores", Map.of(), List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"), Duration.ZERO);
    }

    /** With that mode of streaming. */
    static PgapplyContestant streaming(String mode) {
        return new PgapplyContestant(mode, Map.of("streaming", mode), List.of(), Duration.ZERO);
    }

    /** Behind a round trip of 5 ms. */
    static PgapplyContestant far() {
        return new PgapplyContestant("far", Map.of(), List.of(), Duration.ofNanos(2_500_000));
    }

    @Override
    public boolean enters(String workload) {
        return toTarget.isZero() || workload.equals("tpcb");
    }

    @Override
    public String name() {
        return label.isEmpty() ? "pgapply" : "pgapply_" + label;
    }

    @Override
    public boolean applies() {
        return true;
    }

    @Override
    public Run start(Database publisher, Database target, String slot) {
        return start(publisher, target, slot, false);
    }

    @Override
    public Run copy(Database publisher, Database target, String name) {
        return start(publisher, target, name, true);
    }

    @Override
    public TableStates tableStates() {
        return new TableStates("pgapply.subscription_rel", "state");
    }

    private Run start(Database publisher, Database target, String slot, boolean copy) {
        TcpProxy proxy = proxyTo(target);
        EngineConfig.Builder config = EngineConfig.subscription(slot)
                .from(publisher)
                .to(proxy == null ? target.libpqUrl() : target.libpqUrl(PostgresServer.SUPERUSER, proxy.port()))
                .publications("bench")
                .option("slot_name", slot)
                .option("create_slot", Boolean.toString(copy))
                .option("copy_data", Boolean.toString(copy));
        options.forEach(config::option);
        EngineProcess.Builder builder =
                EngineProcess.of(config.build()).heap("256m").tuned();
        jvmOptions.forEach(builder::jvmOption);
        JVM_OPTIONS.forEach(builder::jvmOption);
        if (RECORDED) {
            builder.jvmOption("-XX:StartFlightRecording:name=bench,settings=profile");
        }
        EngineProcess engine = builder.start();
        return new Run() {
            @Override
            public double cpuSeconds() {
                return ProcessHandle.of(engine.pid())
                                .flatMap(process -> process.info().totalCpuDuration())
                                .orElse(Duration.ZERO)
                                .toMillis()
                        / 1e3;
            }

            @Override
            public void check() {
                if (!engine.isRunning()) {
                    throw new IllegalStateException("the engine has ended: " + engine.explain());
                }
            }

            @Override
            public void refresh() {
                RestClient.Answer answer = engine.rest().command(slot, "refresh");
                if (answer.status() >= 300) {
                    throw new IllegalStateException("refresh: " + answer.body());
                }
            }

            @Override
            public void close() {
                if (RECORDED) {
                    dump(engine.pid(), slot);
                }
                engine.terminate();
                if (proxy != null) {
                    proxy.close();
                }
            }
        };
    }

    private @Nullable TcpProxy proxyTo(Database target) {
        if (toTarget.isZero()) {
            return null;
        }
        TcpProxy proxy = TcpProxy.to(target.server().port());
        proxy.delay(toTarget);
        return proxy;
    }

    /** An engine ends by halt, which writes no recording. */
    private static void dump(long pid, String slot) {
        Path file = Path.of("target", slot + ".jfr").toAbsolutePath();
        try {
            int unused = new ProcessBuilder("jcmd", Long.toString(pid), "JFR.dump", "name=bench", "filename=" + file)
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
