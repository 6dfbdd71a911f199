package dev.pgapply.it.support;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Directories in the machine's memory, for clusters whose databases come and go by the hundred. On a disk a new file is kept off the
 * places of those deleted within the last seconds (ext4, recently_deleted): finding another one took a fifth of the CPU of all tests.
 * Thread-safe.
 */
final class MemoryDirectory {

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "pgapply-it-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d+)-\\d+");
    private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d+) kB");

    /** What all JVMs of a run may take together, several times over. */
    private static final long ENOUGH_BYTES = 8L << 30;

    private static final AtomicInteger COUNTER = new AtomicInteger();
    private static final boolean USABLE = isUsable();

    private MemoryDirectory() {}

    /** A path that no other caller gets, not created yet; null where there is no memory to spare. */
    static @Nullable Path create() {
        return USABLE ? MEMORY.resolve(PREFIX + ProcessHandle.current().pid() + "-" + COUNTER.incrementAndGet()) : null;
    }

    /** The full numbers are too large for it. */
    private static boolean isUsable() {
        try {
            if (RunOptions.longRun() || !Files.isWritable(MEMORY)) {
                return false;
            }
            sweep();
            Matcher available = AVAILABLE.matcher(Files.readString(Path.of("/proc/meminfo")));
            return Files.getFileStore(MEMORY).getUsableSpace() >= ENOUGH_BYTES
                    && available.find()
                    && Long.parseLong(available.group(1)) * 1024 >= ENOUGH_BYTES;
        } catch (IOException e) {
            return false;
        }
    }

    /** What JVMs have left that were killed. */
    private static void sweep() throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(MEMORY, PREFIX + "*")) {
            for (Path directory : left) {
                Matcher name = NAME.matcher(directory.getFileName().toString());
                if (name.matches() && !Processes.isRunning(Long.parseLong(name.group(1)))) {
                    Processes.run(false, "rm", "-rf", directory.toString());
                }
            }
        }
    }
}
