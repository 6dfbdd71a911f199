package dev.pgapply.it.support;

import java.nio.file.Path;

/** One database server as a thing that can be started, stopped, killed and frozen. Not thread-safe: the test's thread owns it. */
interface ServerInstance {

    /** Starts it on its data directory, created when missing; when this returns it answers queries. */
    void start();

    /** Ends it with {@code mode} and waits for the end. */
    void stop(ShutdownMode mode);

    /** SIGKILL to all its processes; when this returns they are gone. */
    void killNine();

    /** SIGSTOP to all its processes. */
    void pause();

    /** SIGCONT to all its processes. */
    void resume();

    boolean isRunning();

    int port();

    /** Where the cluster is, on this machine. */
    Path data();

    /** Copies the data directory of the stopped server to a new directory. */
    void saveData(Path copy);

    /** Puts a copy in the place of the data directory of the stopped server. */
    void restoreData(Path copy);

    /** Puts a line in front of pg_hba.conf; takes effect at a reload. */
    void prependHba(String line);

    /** All it has logged so far. */
    String log();

    /** Ends it if it runs and deletes its data directory. */
    void discard();
}
