package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.awaitility.Awaitility;

/** Signals, process trees and ports of this machine. Thread-safe. */
final class Processes {

    private Processes() {}

    /** Sends a signal by its name, such as {@code KILL}; a process that is gone already is no error. */
    static void signal(String name, long pid) {
        run(false, "kill", "-" + name, Long.toString(pid));
    }

    /** The process and all below it, the process first. */
    static List<Long> tree(long pid) {
        List<Long> pids = new ArrayList<>();
        pids.add(pid);
        ProcessHandle.of(pid)
                .ifPresent(
                        process -> process.descendants().map(ProcessHandle::pid).forEach(pids::add));
        return pids;
    }

    /** Waits until the process has ended; one that nobody has reaped yet counts as ended. */
    static void awaitGone(long pid, Duration atMost) {
        Awaitility.await("end of process " + pid)
                .atMost(atMost)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !isRunning(pid));
    }

    static boolean isRunning(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            String text = Files.readString(stat, StandardCharsets.ISO_8859_1);
            String state = text.substring(text.lastIndexOf(')') + 2).substring(0, 1);
            return !state.equals("Z") && !state.equals("X");
        } catch (IOException e) {
            return false;
        }
    }

    /** Runs a command to its end and returns what it printed; a failure is an error if {@code checked}. */
    static String run(boolean checked, String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int exit = process.waitFor();
            if (checked && exit != 0) {
                throw new IllegalStateException(String.join(" ", command) + " exited with " + exit + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + command[0], e);
        }
    }

    /**
     * A port that is free now. It lies below the range of outgoing connections (ip_local_port_range), so that it is still free when a
     * server starts again on it.
     */
    static int freePort() {
        List<Integer> candidates = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            candidates.add(ThreadLocalRandom.current().nextInt(15_000, 32_000));
        }
        IOException lastTaken = null;
        for (int port : candidates) {
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                lastTaken = taken;
            }
        }
        throw new IllegalStateException("found no free port", lastTaken);
    }
}
