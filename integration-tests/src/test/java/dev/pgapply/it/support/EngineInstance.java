package dev.pgapply.it.support;

import java.time.Duration;
import java.util.OptionalInt;

/** One running engine as a thing that can be ended. Owned by the test's thread. */
interface EngineInstance {

    boolean isRunning();

    /** Asks for an orderly end. */
    void terminate();

    /** The exit code, or none if it still runs after that time. */
    OptionalInt awaitExit(Duration atMost);

    /** The process of this engine alone. */
    Process process();
}
