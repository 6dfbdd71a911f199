package dev.pgapply.core.spool;

import dev.pgapply.core.Xid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Messages of a stream block, in and out of a spool. */
final class SpoolMessages {

    private SpoolMessages() {}

    /** An INSERT of one text column into relation 16385, as it comes in a stream block. */
    static byte[] insert(Xid xid, String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(17 + text.length)
                .put((byte) 'I')
                .putInt(xid.value())
                .putInt(16_385)
                .put((byte) 'N')
                .putShort((short) 1)
                .put((byte) 't')
                .putInt(text.length)
                .put(text)
                .array();
    }

    /** Appends in a block of its own. */
    static void appendBlock(SpoolWriter writer, Xid subxid, byte[]... messages) {
        writer.openBlock();
        for (byte[] message : messages) {
            writer.append(subxid, message, 0, message.length);
        }
        writer.closeBlock();
    }

    static List<byte[]> read(SpooledChanges changes) {
        List<byte[]> messages = new ArrayList<>();
        try (SpoolReader reader = SpoolReader.open(changes)) {
            SpooledMessage message = reader.next();
            while (message != null) {
                byte[] copy = new byte[message.length()];
                System.arraycopy(message.buffer(), message.offset(), copy, 0, copy.length);
                messages.add(copy);
                message = reader.next();
            }
        }
        return messages;
    }
}
