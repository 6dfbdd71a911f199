package dev.pgapply.core.spool;

import dev.pgapply.core.Xid;
import java.nio.file.Path;

/**
 * What is in a transaction's .changes file, as its writer remembers it: what a reader needs to open the file and to trust nothing else
 * in it. Immutable; it may go to another thread. It holds until the writer goes on or deletes the file.
 *
 * @param xid the toplevel transaction
 * @param length the file's bytes
 * @param largestMessage no message in it has more bytes than this
 */
public record SpooledChanges(Path file, Xid xid, long length, int largestMessage) {}
