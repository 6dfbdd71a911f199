package dev.pgapply.it.soak;

import dev.pgapply.it.support.Database;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the engine and the target hold at one moment, with everything applied.
 *
 * @param heapBytes of the engine's heap after a full collection
 * @param threads of the engine's process
 * @param files open handles of the engine's process
 * @param connections of the engine to the target
 * @param temporaryTables in the target's database
 * @param tableBytes of the replicated tables with indexes and TOAST: its growth is bloat, since the number of rows stays
 * @param catalogBytes of pg_class, pg_attribute, pg_type and pg_depend, where temporary tables leave their dead rows
 * @param stateBytes of schema pgapply
 */
record SoakSample(
        String moment,
        long heapBytes,
        long threads,
        long files,
        long connections,
        long temporaryTables,
        long tableBytes,
        long catalogBytes,
        long stateBytes) {

    private static final Pattern THREADS = Pattern.compile("Threads:\\s+(\\d+)");
    private static final Pattern HEAP_USED = Pattern.compile("(?:used|total \\d+K, used) (\\d+)K");

    static SoakSample take(String moment, long pid, Database target) {
        String unused = jcmd(pid, "GC.run");
        return new SoakSample(
                moment,
                heapUsed(jcmd(pid, "GC.heap_info")),
                threads(pid),
                files(pid),
                target.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND application_name LIKE 'pgapply %'"),
                target.number("SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'"),
                target.number("SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c"
                        + " WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"),
                target.number("SELECT sum(pg_total_relation_size(oid)) FROM unnest('{pg_catalog.pg_class,"
                        + "pg_catalog.pg_attribute,pg_catalog.pg_type,pg_catalog.pg_depend}'::regclass[]) AS c(oid)"),
                target.number(
                        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c"
                                + " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'pgapply' AND relkind = 'r'"));
    }

    /** The generations' lines, whatever the collector: those of the metaspace are no heap. */
    private static long heapUsed(String info) {
        long kilobytes = 0;
        for (String line : info.lines().toList()) {
            Matcher used = HEAP_USED.matcher(line);
            if (!line.contains("Metaspace") && !line.contains("class space") && used.find()) {
                kilobytes += Long.parseLong(used.group(1));
            }
        }
        return kilobytes * 1024;
    }

    private static long threads(long pid) {
        try {
            Matcher threads = THREADS.matcher(Files.readString(Path.of("/proc", Long.toString(pid), "status")));
            return threads.find() ? Long.parseLong(threads.group(1)) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long files(long pid) {
        try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String jcmd(long pid, String command) {
        try {
            Process process = new ProcessBuilder("jcmd", Long.toString(pid), command)
                    .redirectErrorStream(true)
                    .start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String header() {
        return "| moment | heap | threads | files | connections | temporary tables | tables | catalogs | schema pgapply |\n"
                + "|---|---|---|---|---|---|---|---|---|";
    }

    @Override
    public String toString() {
        return String.format(
                "| %s | %.1f MB | %d | %d | %d | %d | %.1f MB | %.1f MB | %.2f MB |",
                moment,
                heapBytes / 1048576.0,
                threads,
                files,
                connections,
                temporaryTables,
                tableBytes / 1048576.0,
                catalogBytes / 1048576.0,
                stateBytes / 1048576.0);
    }
}
