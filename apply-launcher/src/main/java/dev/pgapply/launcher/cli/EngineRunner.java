package dev.pgapply.launcher.cli;

import dev.pgapply.core.ApplyException;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.config.LauncherConfig;
import dev.pgapply.launcher.config.StateDirectory;
import java.util.function.Consumer;

/** Runs the engine for the command {@code run}. */
@FunctionalInterface
public interface EngineRunner {

    /**
     * Runs until the process is told to end.
     *
     * @param started called with the bound address once HTTP answers
     * @throws ApplyException if it cannot start
     */
    void run(LauncherConfig config, StateDirectory state, Consumer<HttpAddress> started);
}
