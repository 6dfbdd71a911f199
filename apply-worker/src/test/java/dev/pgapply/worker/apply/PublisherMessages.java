package dev.pgapply.worker.apply;

import dev.pgapply.core.Lsn;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** pgoutput's messages about tables with a key {@code id} and text columns. An xid of 0: outside of stream blocks. */
public final class PublisherMessages {

    private static final int TEXT = 25;

    /** Writes the fields behind the type byte. */
    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private PublisherMessages() {}

    private static byte[] message(char type, Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(type);
            body.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    public static byte[] begin(int xid, String finalLsn) {
        return message('B', out -> {
            lsn(out, finalLsn);
            out.writeLong(0);
            out.writeInt(xid);
        });
    }

    /** Its end_lsn is 8 bytes behind. */
    public static byte[] commit(String commitLsn) {
        return message('C', out -> {
            out.writeByte(0);
            ends(out, commitLsn);
        });
    }

    static byte[] streamStart(int xid, boolean first) {
        return message('S', out -> {
            out.writeInt(xid);
            out.writeByte(first ? 1 : 0);
        });
    }

    static byte[] streamStop() {
        return message('E', out -> {});
    }

    /** Its end_lsn is 8 bytes behind. */
    static byte[] streamCommit(int xid, String commitLsn) {
        return message('c', out -> {
            out.writeInt(xid);
            out.writeByte(0);
            ends(out, commitLsn);
        });
    }

    static byte[] streamAbort(int xid, int subxid) {
        return message('A', out -> {
            out.writeInt(xid);
            out.writeInt(subxid);
        });
    }

    /** Its end_lsn is 8 bytes behind. */
    static byte[] beginPrepare(int xid, String prepareLsn) {
        return message('b', out -> prepared(out, xid, prepareLsn));
    }

    /** Its end_lsn is 8 bytes behind. */
    static byte[] prepare(int xid, String prepareLsn) {
        return message('P', out -> {
            out.writeByte(0);
            prepared(out, xid, prepareLsn);
        });
    }

    /** Its end_lsn is 8 bytes behind. */
    static byte[] streamPrepare(int xid, String prepareLsn) {
        return message('p', out -> {
            out.writeByte(0);
            prepared(out, xid, prepareLsn);
        });
    }

    /** Its end_lsn is 8 bytes behind. */
    static byte[] commitPrepared(int xid, String commitLsn) {
        return message('K', out -> {
            out.writeByte(0);
            prepared(out, xid, commitLsn);
        });
    }

    static byte[] rollbackPrepared(int xid, String prepareEndLsn, String rollbackEndLsn) {
        return message('r', out -> {
            out.writeByte(0);
            lsn(out, prepareEndLsn);
            lsn(out, rollbackEndLsn);
            out.writeLong(0);
            out.writeLong(0);
            out.writeInt(xid);
            string(out, "g'" + xid);
        });
    }

    private static void prepared(DataOutputStream out, int xid, String lsn) throws IOException {
        ends(out, lsn);
        out.writeInt(xid);
        string(out, "g'" + xid);
    }

    public static byte[] relation(int xid, int oid, String table, String... columns) {
        return message('R', out -> {
            xid(out, xid);
            out.writeInt(oid);
            string(out, "public");
            string(out, table);
            out.writeByte('d');
            out.writeShort(1 + columns.length);
            column(out, true, "id");
            for (String column : columns) {
                column(out, false, column);
            }
        });
    }

    public static byte[] insert(int xid, int oid, String... values) {
        return message('I', out -> {
            xid(out, xid);
            out.writeInt(oid);
            out.writeByte('N');
            out.writeShort(values.length);
            for (String value : values) {
                byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
                out.writeByte('t');
                out.writeInt(utf8.length);
                out.write(utf8);
            }
        });
    }

    private static void xid(DataOutputStream out, int xid) throws IOException {
        if (xid != 0) {
            out.writeInt(xid);
        }
    }

    private static void ends(DataOutputStream out, String commitLsn) throws IOException {
        lsn(out, commitLsn);
        out.writeLong(Lsn.parse(commitLsn).value() + 8);
        out.writeLong(0);
    }

    private static void column(DataOutputStream out, boolean key, String name) throws IOException {
        out.writeByte(key ? 1 : 0);
        string(out, name);
        out.writeInt(TEXT);
        out.writeInt(-1);
    }

    private static void lsn(DataOutputStream out, String lsn) throws IOException {
        out.writeLong(Lsn.parse(lsn).value());
    }

    private static void string(DataOutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.writeByte(0);
    }
}
