package dev.pgapply.core.pgoutput;

import static dev.pgapply.core.pgoutput.MessageBytes.message;

import java.util.ArrayList;
import java.util.List;

/** One valid message of each type, and of each shape that a type has. */
final class SampleMessages {

    private static final int XID = 731;
    private static final int OID = 16385;

    /** @param inStreamBlock whether it is to be read as one of a stream block */
    record Sample(String name, boolean inStreamBlock, byte[] bytes) {

        /** Whether so many bytes are a message too: STREAM ABORT has two forms. */
        boolean isCompleteAt(int length) {
            return bytes[0] == 'A' && length == 9;
        }
    }

    private SampleMessages() {}

    static List<Sample> all() {
        List<Sample> samples = new ArrayList<>();
        add(samples, "begin", message('B').lsn("1/2").int64(3).int32(XID));
        add(samples, "commit", finish(message('C').int8(0)));
        add(samples, "origin", message('O').lsn("1/2").string("pg_16395"));
        add(samples, "begin prepare", finish(message('b')).int32(XID).string("gid"));
        add(samples, "prepare", finish(message('P').int8(0)).int32(XID).string("gid"));
        add(samples, "commit prepared", finish(message('K').int8(0)).int32(XID).string("gid"));
        add(
                samples,
                "rollback prepared",
                finish(message('r').int8(0)).int64(4).int32(XID).string("gid"));
        add(samples, "stream start", message('S').int32(XID).int8(1));
        add(samples, "stream stop", message('E'));
        add(samples, "stream commit", finish(message('c').int32(XID).int8(0)));
        add(samples, "stream abort", message('A').int32(XID).int32(XID + 1));
        add(
                samples,
                "stream abort of parallel",
                message('A').int32(XID).int32(XID).lsn("1/2").int64(3));
        add(samples, "stream prepare", finish(message('p').int8(0)).int32(XID).string("gid"));
        addChange(samples, "relation", 'R', relation());
        addChange(
                samples,
                "type",
                'Y',
                new MessageBytes().int32(OID).string("public").string("mood"));
        addChange(samples, "insert", 'I', row(new MessageBytes().int32(OID).int8('N')));
        addChange(samples, "update", 'U', row(new MessageBytes().int32(OID).int8('N')));
        addChange(
                samples,
                "update of the key",
                'U',
                row(row(new MessageBytes().int32(OID).int8('K')).int8('N')));
        addChange(samples, "delete", 'D', row(new MessageBytes().int32(OID).int8('O')));
        addChange(
                samples,
                "truncate",
                'T',
                new MessageBytes().int32(2).int8(3).int32(OID).int32(OID + 1));
        addChange(
                samples,
                "message",
                'M',
                new MessageBytes().int8(1).lsn("1/2").string("prefix").int32(3).raw((byte) 1, (byte) 2, (byte) 3));
        return samples;
    }

    private static void add(List<Sample> samples, String name, MessageBytes bytes) {
        samples.add(new Sample(name, false, bytes.toBytes()));
    }

    private static void addChange(List<Sample> samples, String name, char type, MessageBytes body) {
        add(samples, name, message(type).raw(body.toBytes()));
        byte[] streamed = message(type).int32(XID).raw(body.toBytes()).toBytes();
        samples.add(new Sample(name + " in a stream block", true, streamed));
    }

    private static MessageBytes finish(MessageBytes head) {
        return head.lsn("1/2").lsn("1/3").int64(3);
    }

    private static MessageBytes relation() {
        return new MessageBytes()
                .int32(OID)
                .string("public")
                .string("users")
                .int8('d')
                .int16(2)
                .int8(1)
                .string("id")
                .int32(23)
                .int32(-1)
                .int8(0)
                .string("name")
                .int32(25)
                .int32(-1);
    }

    private static MessageBytes row(MessageBytes head) {
        return head.int16(4).text("42").int8('n').int8('u').int8('b').int32(2).raw((byte) 0, (byte) 42);
    }
}
