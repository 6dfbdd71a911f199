package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The CPU time of a server's processes, those that have ended included (proc(5): utime, stime, cutime, cstime). */
final class ServerCpu {

    private static final double TICKS_PER_SECOND = 100;

    private final long postmaster;

    ServerCpu(PostgresServer server) {
        Database maintenance = server.maintenance();
        try (Stream<String> lines =
                Files.lines(Path.of(String.valueOf(maintenance.value("SHOW data_directory")), "postmaster.pid"))) {
            postmaster = Long.parseLong(lines.findFirst().orElseThrow().trim());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    double seconds() {
        double ticks = ticks(postmaster, 4);
        try (Stream<ProcessHandle> children =
                ProcessHandle.of(postmaster).orElseThrow().children()) {
            ticks += children.mapToDouble(child -> ticks(child.pid(), 2)).sum();
        }
        return ticks / TICKS_PER_SECOND;
    }

    /** The first of the four times. */
    private static double ticks(long pid, int count) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The command's name may hold spaces; the fields begin behind its parenthesis, utime is the 14th of all.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            double sum = 0;
            for (int i = 0; i < count; i++) {
                sum += Double.parseDouble(fields[11 + i]);
            }
            return sum;
        } catch (IOException e) {
            return 0; // it has just ended; the postmaster counts it
        }
    }
}
