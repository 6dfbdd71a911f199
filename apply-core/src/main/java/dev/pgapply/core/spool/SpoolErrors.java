package dev.pgapply.core.spool;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What goes wrong with a spool file, as the one exception: each names the file and the transaction. */
final class SpoolErrors {

    private static final String DIRECTORY_HINT =
            "check that the state directory exists, is writable and its file system works; pgapply then goes on by itself";

    private SpoolErrors() {}

    /** @param bytes how much was to be written */
    static ApplyException writing(Path file, Xid xid, long bytes, IOException e) {
        if (isFull(file, bytes, e)) {
            return new ApplyException(
                    Kind.SPOOL_FULL,
                    "no room for spool file \"" + file + "\"" + of(xid) + ": " + reason(e),
                    "make room on the file system of the state directory; pgapply then goes on by itself",
                    null,
                    null,
                    e);
        }
        return failed("could not write spool file \"" + file + "\"" + of(xid), e);
    }

    static ApplyException reading(Path file, Xid xid, IOException e) {
        return failed("could not read spool file \"" + file + "\"" + of(xid), e);
    }

    static ApplyException deleting(Path file, IOException e) {
        return failed("could not delete spool file \"" + file + "\"", e);
    }

    static ApplyException directory(Path directory, IOException e) {
        return failed("could not use spool directory \"" + directory + "\"", e);
    }

    /** The file is not what was written to it. */
    static ApplyException damaged(Path file, Xid xid, String what) {
        return ApplyException.withHint(
                Kind.SPOOL_FAILED,
                "spool file \"" + file + "\"" + of(xid) + " is not what was written: " + what,
                "nobody but pgapply may write there; the publisher sends the transaction again");
    }

    /**
     * @param used what the spools of all held tables take together
     * @param maxBytes what they may take
     */
    static ApplyException heldOverLimit(long needed, long used, long maxBytes) {
        return ApplyException.withHint(
                Kind.SPOOL_FULL,
                "spool limit reached by the changes held back while the table is copied: " + needed
                        + " bytes more than " + used + " of the " + maxBytes + " that such changes may take",
                "raise spool.max_bytes (0: no limit but the disk)");
    }

    /** Whose file it is; a held table's belongs to no transaction. */
    private static String of(Xid xid) {
        return xid.equals(SpoolDirectory.NOBODY) ? "" : " of transaction " + xid;
    }

    static ApplyException overLimit(Xid xid, long needed, long used, long maxBytes, int transactions) {
        return ApplyException.withHint(
                Kind.SPOOL_FULL,
                "spool limit reached by transaction " + xid + ": " + needed + " bytes more than the " + used + " of "
                        + maxBytes + " that " + transactions
                        + (transactions == 1 ? " streamed transaction takes" : " streamed transactions take"),
                "raise spool.max_bytes (0: no limit but the disk), or set streaming: off");
    }

    private static ApplyException failed(String what, IOException e) {
        return new ApplyException(Kind.SPOOL_FAILED, what + ": " + reason(e), DIRECTORY_HINT, null, null, e);
    }

    /** ENOSPC or EDQUOT. Java shows them only as text, which may be translated: then the file system is asked. */
    private static boolean isFull(Path file, long bytes, IOException e) {
        String reason = reason(e);
        if (reason.contains("No space left on device") || reason.contains("Disk quota exceeded")) {
            return true;
        }
        try {
            return Files.getFileStore(file).getUsableSpace() < bytes;
        } catch (IOException unknown) {
            return false;
        }
    }

    /** The system's word for it; a FileSystemException's message repeats the file's name, and may be nothing else. */
    private static String reason(IOException e) {
        @Nullable String reason = e instanceof FileSystemException file ? file.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName() : reason;
    }
}
