package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import java.time.Duration;
import java.util.Map;

/**
 * pgapply as a process of its own, cold, as people run it.
 *
 * @param label what is special about it
 * @param options further keys of the subscription, with their values as YAML
 */
record PgapplyContestant(String label, Map<String, String> options) implements Contestant {

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
        EngineConfig.Builder config = EngineConfig.subscription(slot)
                .from(publisher)
                .to(target)
                .publications("bench")
                .option("slot_name", slot)
                .option("create_slot", "false")
                .option("copy_data", "false");
        options.forEach(config::option);
        EngineProcess engine =
                EngineProcess.of(config.build()).heap("256m").tuned().start();
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
            public void close() {
                engine.terminate();
            }
        };
    }
}
