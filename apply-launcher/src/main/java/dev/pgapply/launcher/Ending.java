package dev.pgapply.launcher;

import java.util.concurrent.CountDownLatch;

/** When the running engine ends, and what happens then. Used by the thread that runs it. */
interface Ending {

    /** Gives the orderly stop, which is to run once, before there is anything to stop. */
    void prepare(Runnable stop);

    /** Returns once the engine has stopped, if it ever does. */
    void await();

    /**
     * SIGTERM or Ctrl-C end the process with exit code 0. A JVM that a signal ends would exit with 143; the hook's halt makes an
     * orderly end a 0.
     */
    static Ending bySignal() {
        return new Ending() {
            @Override
            public void prepare(Runnable stop) {
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(
                                () -> {
                                    stop.run();
                                    Runtime.getRuntime().halt(0);
                                },
                                "shutdown"));
            }

            @Override
            public void await() {
                awaitZero(new CountDownLatch(1));
            }
        };
    }

    /** Counting the latch down ends the engine and leaves the JVM running. */
    static Ending byLatch(CountDownLatch latch) {
        return new Ending() {
            private Runnable stop = () -> {};

            @Override
            public void prepare(Runnable stop) {
                this.stop = stop;
            }

            @Override
            public void await() {
                awaitZero(latch);
                stop.run();
            }
        };
    }

    private static void awaitZero(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
