package dev.pgapply.core.spool;

import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.MessageType;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The files of a spool. First the two of a spooled transaction (worker.c, "STREAMED TRANSACTIONS"; changes_filename, subxact_filename). Numbers are big
 * endian, as on the wire. Neither file has a header, and nothing in them needs to survive a crash: they are never synced, a start
 * deletes them, and the publisher sends an unfinished transaction again from its beginning.
 *
 * <pre>
 * file                        field    bytes       what
 * &lt;subid&gt;-&lt;xid&gt;.changes      length   4           int32: the bytes of action and body, 1 or more
 *   one record a message,     action   1           the message's type byte
 *   in the order received     body     length - 1  the rest of the message, as received
 *
 * &lt;subid&gt;-&lt;xid&gt;.subxacts     subxid   4           xid of the subtransaction
 *   one record a              offset   8           int64: where the length field of its first message stands
 *   subtransaction, in the                         in the .changes file
 *   order of first messages
 * </pre>
 *
 * <p>Names: subid and toplevel xid in decimal, unsigned. The .subxacts file exists only once a subtransaction has changed something.
 *
 * <p><b>The body keeps its xid.</b> PostgreSQL cuts it off where the leader replays the file (LEADER_SERIALIZE) and keeps it where a
 * parallel apply worker does (LEADER_PARTIAL_SERIALIZE), which needs it for its savepoints. Here it always stays: a record is the
 * message byte for byte, both readers decode it as one of a stream block, and a failure can name the subtransaction.
 *
 * <p><b>What is in it.</b> LEADER_SERIALIZE: the messages inside the stream blocks, without the blocks' own STREAM START and STREAM
 * STOP; a subtransaction's STREAM ABORT cuts the file. LEADER_PARTIAL_SERIALIZE: a subtransaction's STREAM ABORT as well, since the
 * worker may have applied what is aborted; the file is never cut and there is no .subxacts file.
 *
 * <p><b>A held table.</b> {@code <subid>-<n>.held} has the same records: the changes of one table while it is copied, of transactions that
 * have committed, in commit order and as outside of stream blocks. A BEGIN comes before the first change of each transaction, a
 * RELATION before the first change and wherever it is another one than before; {@code n} just counts.
 */
final class SpoolFormat {

    /** Bytes of the length field before each message. */
    static final int LENGTH_BYTES = 4;

    /** Bytes of one record of a .subxacts file. */
    static final int SUBXACT_BYTES = 12;

    private static final String CHANGES = ".changes";
    private static final String SUBXACTS = ".subxacts";
    private static final String HELD = ".held";

    private static final Pattern NAME = Pattern.compile("[0-9]{1,10}-[0-9]{1,10}\\.(?:changes|subxacts|held)");

    /** What may come inside a stream block, and what frames or ends one. */
    private static final Set<MessageType> TYPES = EnumSet.of(
            MessageType.ORIGIN,
            MessageType.INSERT,
            MessageType.UPDATE,
            MessageType.DELETE,
            MessageType.TRUNCATE,
            MessageType.RELATION,
            MessageType.TYPE,
            MessageType.MESSAGE,
            MessageType.STREAM_START,
            MessageType.STREAM_STOP,
            MessageType.STREAM_ABORT,
            MessageType.STREAM_COMMIT,
            MessageType.STREAM_PREPARE);

    /** What begins a held table's transactions, and what is in them. */
    private static final Set<MessageType> HELD_TYPES = EnumSet.of(
            MessageType.BEGIN,
            MessageType.RELATION,
            MessageType.INSERT,
            MessageType.UPDATE,
            MessageType.DELETE,
            MessageType.TRUNCATE);

    private static final boolean[] ACTIONS = new boolean[256];

    static {
        TYPES.forEach(type -> ACTIONS[type.code()] = true);
    }

    private SpoolFormat() {}

    /** Whether a message that begins with this byte may stand in a .held file. */
    static boolean isHeldAction(byte code) {
        MessageType type = MessageType.of(code);
        return type != null && HELD_TYPES.contains(type);
    }

    /** Whether a message that begins with this byte may stand in a .changes file. */
    static boolean isAction(byte code) {
        return ACTIONS[code & 0xFF];
    }

    static String changesFileName(int subid, Xid xid) {
        return Integer.toUnsignedString(subid) + "-" + xid + CHANGES;
    }

    static String subxactsFileName(int subid, Xid xid) {
        return Integer.toUnsignedString(subid) + "-" + xid + SUBXACTS;
    }

    /** @param number counts the held tables of one life of the subscription */
    static String heldFileName(int subid, int number) {
        return Integer.toUnsignedString(subid) + "-" + number + HELD;
    }

    /** Whether a file of this name is one of a spool. */
    static boolean isSpoolFile(String fileName) {
        return NAME.matcher(fileName).matches();
    }
}
