package dev.pgapply.launcher.config;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The engine's directory: a lock file that one process holds, and a folder for each subscription. What lies in it is disposable.
 * Held until {@link #close}.
 */
public final class StateDirectory implements AutoCloseable {

    private static final String NAME = "pgapply";
    /** No subscription's folder can be called so: a dot is percent-encoded there. */
    private static final String LOCK_FILE = "pgapply.lock";

    private static final Path SYSTEM_WIDE = Path.of("/var/lib", NAME);

    private final Path path;
    private final FileChannel channel;

    private StateDirectory(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** Where the directory is if nobody says: the system's if it may be written, else the user's. */
    public static Path defaultPath(Map<String, String> environment, Path home) {
        return defaultPath(environment, home, SYSTEM_WIDE);
    }

    static Path defaultPath(Map<String, String> environment, Path home, Path systemWide) {
        Path parent = systemWide.getParent();
        boolean writable = Files.exists(systemWide)
                ? Files.isDirectory(systemWide) && Files.isWritable(systemWide)
                : parent != null && Files.isWritable(parent);
        if (writable) {
            return systemWide;
        }
        String stateHome = environment.get("XDG_STATE_HOME");
        // The XDG specification: a relative path is to be ignored.
        if (stateHome != null && Path.of(stateHome).isAbsolute()) {
            return Path.of(stateHome, NAME);
        }
        return home.resolve(".local/state").resolve(NAME);
    }

    /**
     * Creates what is missing and takes the lock.
     *
     * @throws ApplyException PRECONDITION if the directory cannot be used, or another process has it
     */
    public static StateDirectory open(Path path) {
        try {
            Files.createDirectories(path);
            FileChannel channel = FileChannel.open(
                    path.resolve(LOCK_FILE),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            FileLock lock = tryLock(channel);
            if (lock == null) {
                String holder = read(channel);
                channel.close();
                throw ApplyException.withHint(
                        Kind.PRECONDITION,
                        "the state directory \"" + path + "\" is in use by another engine"
                                + (holder.isEmpty() ? "" : " (process " + holder + ")"),
                        "end that engine, or set another state_directory");
            }
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
            return new StateDirectory(path, channel);
        } catch (IOException e) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "the state directory \"" + path + "\" cannot be used: " + e.getMessage(),
                    "make it writable, or set another state_directory");
        }
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    private static String read(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(20);
        channel.read(bytes, 0);
        String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII).trim();
        return text.matches("[0-9]+") ? text : "";
    }

    public Path path() {
        return path;
    }

    /** The subscription's own folder; its name is the subscription's with all but {@code [A-Za-z0-9_-]} percent-encoded. */
    public Path folder(String subscription) {
        Path folder = path.resolve(folderName(subscription));
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "the directory \"" + folder + "\" cannot be created: " + e.getMessage(),
                    "make the state directory writable");
        }
    }

    static String folderName(String subscription) {
        StringBuilder name = new StringBuilder();
        for (byte b : subscription.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (letter || (c >= '0' && c <= '9') || c == '_' || c == '-') {
                name.append(c);
            } else {
                name.append(String.format("%%%02X", (int) c));
            }
        }
        return name.toString();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new ApplyException(Kind.INTERNAL, "could not close the lock file of \"" + path + "\"", e);
        }
    }
}
