package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/** What takes long to make and is the same for all JVMs of a run: made below {@code target/it} by whichever needs it first. Thread-safe, between JVMs too. */
final class MadeOnce {

    private MadeOnce() {}

    /**
     * @param name of the file or directory, unique below {@code target/it}
     * @param maker leaves it, whole, at the path that it is given
     */
    static Path get(String name, Consumer<Path> maker) {
        Path made = RunOptions.sharedDirectory(name);
        if (!Files.exists(made)) {
            make(made, maker);
        }
        return made;
    }

    private static synchronized void make(Path made, Consumer<Path> maker) {
        try {
            Files.createDirectories(made.getParent());
            Path lock = made.resolveSibling(made.getFileName() + ".lock");
            try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    var held = channel.lock()) {
                if (!Files.exists(made) && held.isValid()) {
                    Path unfinished = made.resolveSibling(made.getFileName() + ".new");
                    Processes.run(true, "rm", "-rf", unfinished.toString());
                    maker.accept(unfinished);
                    Files.move(unfinished, made);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
