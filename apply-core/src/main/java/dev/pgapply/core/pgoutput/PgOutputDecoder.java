package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the messages of pgoutput, protocol versions 1 to 4 (proto.c, logicalrep_read_*): bytes in, value out. It reads nothing but
 * the given range and allocates nothing by a length that it has not checked.
 *
 * <p>A decoder is owned by one thread: it reuses its cursor, so that an INSERT costs its record, its tuple and the tuple's offsets. It
 * remembers nothing of a message that would change how the next one reads.
 *
 * <p>Whatever does not read as exactly one message is an {@link dev.pgapply.core.ApplyException} of kind PROTOCOL_VIOLATION: an
 * unknown type, column status, flag or identity, a length or count that does not fit, a position or transaction id that is not set,
 * a name that is not UTF-8, bytes behind the message's end. Where PostgreSQL only looks at the bits that it knows, this is stricter:
 * an unknown bit would change what a message means.
 */
public final class PgOutputDecoder {

    private static final int COLUMN_IS_KEY = 1;
    private static final int TRUNCATE_CASCADE = 1;
    private static final int TRUNCATE_RESTART_IDENTITY = 2;
    private static final int MESSAGE_TRANSACTIONAL = 1;

    /** A relation's column takes a flag, an empty name with its zero byte, a type and a type modifier at least. */
    private static final int MIN_RELATION_COLUMN_BYTES = 10;

    private static final int OID_BYTES = 4;

    private final MessageCursor in = new MessageCursor();

    // Rows of one relation and of one transaction come in runs: the values are made once a run.
    private Oid lastRelation = Oid.INVALID;
    private Xid lastXid = new Xid(0);

    /**
     * Decodes one message. Tuples share {@code buffer} with it, which nobody may write to afterwards.
     *
     * @param inStreamBlock whether the message came between STREAM START and STREAM STOP: only there a change carries an xid
     * @throws dev.pgapply.core.ApplyException of kind PROTOCOL_VIOLATION
     * @throws IndexOutOfBoundsException if the range is not within the buffer: the caller's defect
     */
    public PgOutputMessage decode(byte[] buffer, int offset, int length, boolean inStreamBlock) {
        Objects.checkFromIndexSize(offset, length, buffer.length);
        if (length == 0) {
            throw MessageCursor.violation("empty logical replication message");
        }
        MessageType type = MessageType.of(buffer[offset]);
        if (type == null) {
            throw MessageCursor.violation("invalid logical replication message type " + (buffer[offset] & 0xFF));
        }
        in.open(buffer, offset, length, type);
        try {
            PgOutputMessage message = body(type, inStreamBlock);
            in.expectEnd();
            return message;
        } finally {
            in.close();
        }
    }

    private PgOutputMessage body(MessageType type, boolean inStreamBlock) {
        return switch (type) {
            case BEGIN -> new Begin(in.lsn("final_lsn"), in.timestamp(), xid());
            case COMMIT -> commit();
            case ORIGIN -> new Origin(new Lsn(in.int64()), in.string());
            case INSERT -> insert(changeXid(inStreamBlock));
            case UPDATE -> update(changeXid(inStreamBlock));
            case DELETE -> delete(changeXid(inStreamBlock));
            case TRUNCATE -> truncate(changeXid(inStreamBlock));
            case RELATION -> relation(changeXid(inStreamBlock));
            case TYPE -> new Type(changeXid(inStreamBlock), new Oid(in.int32()), schema(), in.string());
            case MESSAGE -> message(changeXid(inStreamBlock));
            case BEGIN_PREPARE ->
                new BeginPrepare(in.lsn("prepare_lsn"), in.lsn("end_lsn"), in.timestamp(), xid(), in.string());
            case PREPARE -> prepare();
            case COMMIT_PREPARED -> commitPrepared();
            case ROLLBACK_PREPARED -> rollbackPrepared();
            case STREAM_START -> new StreamStart(xid(), in.flags(1) == 1);
            case STREAM_STOP -> new StreamStop();
            case STREAM_COMMIT -> streamCommit();
            case STREAM_ABORT -> streamAbort();
            case STREAM_PREPARE -> streamPrepare();
        };
    }

    private Commit commit() {
        in.flags(0);
        return new Commit(in.lsn("commit_lsn"), in.lsn("end_lsn"), in.timestamp());
    }

    private Insert insert(@Nullable Xid xid) {
        Oid relation = relationOid();
        expectNewTuple(in.int8());
        return new Insert(xid, relation, in.tuple());
    }

    private Update update(@Nullable Xid xid) {
        Oid relation = relationOid();
        byte tupleType = in.int8();
        OldTuple oldTuple = null;
        if (tupleType == 'K' || tupleType == 'O') {
            oldTuple = new OldTuple(tupleType == 'O', in.tuple());
            tupleType = in.int8();
        }
        expectNewTuple(tupleType);
        return new Update(xid, relation, oldTuple, in.tuple());
    }

    private Delete delete(@Nullable Xid xid) {
        Oid relation = relationOid();
        byte tupleType = in.int8();
        if (tupleType != 'K' && tupleType != 'O') {
            throw in.unexpectedByte("tuple type", tupleType);
        }
        return new Delete(xid, relation, new OldTuple(tupleType == 'O', in.tuple()));
    }

    private void expectNewTuple(byte tupleType) {
        if (tupleType != 'N') {
            throw in.unexpectedByte("tuple type", tupleType);
        }
    }

    private Truncate truncate(@Nullable Xid xid) {
        int announced = in.count32("relations", OID_BYTES);
        int flags = in.flags(TRUNCATE_CASCADE | TRUNCATE_RESTART_IDENTITY);
        List<Oid> relations = new ArrayList<>(announced);
        for (int i = 0; i < announced; i++) {
            relations.add(new Oid(in.int32()));
        }
        boolean cascade = (flags & TRUNCATE_CASCADE) != 0;
        boolean restartIdentity = (flags & TRUNCATE_RESTART_IDENTITY) != 0;
        return new Truncate(xid, cascade, restartIdentity, List.copyOf(relations));
    }

    private Relation relation(@Nullable Xid xid) {
        Oid oid = new Oid(in.int32());
        QualifiedName name = new QualifiedName(schema(), in.string());
        ReplicaIdentity identity = replicaIdentity(in.int8());
        int announced = in.count16("columns", MIN_RELATION_COLUMN_BYTES);
        List<Relation.Column> columns = new ArrayList<>(announced);
        for (int i = 0; i < announced; i++) {
            boolean key = in.flags(COLUMN_IS_KEY) == COLUMN_IS_KEY;
            columns.add(new Relation.Column(in.string(), key, new Oid(in.int32()), in.int32()));
        }
        return new Relation(xid, oid, name, identity, columns);
    }

    private ReplicaIdentity replicaIdentity(byte code) {
        for (ReplicaIdentity identity : ReplicaIdentity.values()) {
            if (identity.code() == code) {
                return identity;
            }
        }
        throw in.unexpectedByte("replica identity", code);
    }

    private LogicalMessage message(@Nullable Xid xid) {
        boolean transactional = in.flags(MESSAGE_TRANSACTIONAL) == MESSAGE_TRANSACTIONAL;
        return new LogicalMessage(xid, transactional, new Lsn(in.int64()), in.string(), in.bytes());
    }

    private Prepare prepare() {
        in.flags(0);
        return new Prepare(in.lsn("prepare_lsn"), in.lsn("end_lsn"), in.timestamp(), xid(), in.string());
    }

    private CommitPrepared commitPrepared() {
        in.flags(0);
        return new CommitPrepared(in.lsn("commit_lsn"), in.lsn("end_lsn"), in.timestamp(), xid(), in.string());
    }

    private RollbackPrepared rollbackPrepared() {
        in.flags(0);
        Lsn prepareEndLsn = in.lsn("prepare_end_lsn");
        Lsn rollbackEndLsn = in.lsn("rollback_end_lsn");
        Instant prepareTime = in.timestamp();
        return new RollbackPrepared(prepareEndLsn, rollbackEndLsn, prepareTime, in.timestamp(), xid(), in.string());
    }

    private StreamCommit streamCommit() {
        Xid xid = xid();
        in.flags(0);
        return new StreamCommit(xid, in.lsn("commit_lsn"), in.lsn("end_lsn"), in.timestamp());
    }

    private StreamAbort streamAbort() {
        Xid xid = xid();
        Xid subxid = xid();
        if (in.remaining() == 0) {
            return new StreamAbort(xid, subxid, null, null);
        }
        // Sent only to a subscriber that asked for streaming = parallel.
        return new StreamAbort(xid, subxid, new Lsn(in.int64()), in.timestamp());
    }

    private StreamPrepare streamPrepare() {
        in.flags(0);
        return new StreamPrepare(in.lsn("prepare_lsn"), in.lsn("end_lsn"), in.timestamp(), xid(), in.string());
    }

    /** A schema's name; the publisher sends the empty one for pg_catalog (proto.c, logicalrep_read_namespace). */
    private String schema() {
        String schema = in.string();
        return schema.isEmpty() ? "pg_catalog" : schema;
    }

    private Oid relationOid() {
        int value = in.int32();
        if (lastRelation.value() != value) {
            lastRelation = new Oid(value);
        }
        return lastRelation;
    }

    private @Nullable Xid changeXid(boolean inStreamBlock) {
        return inStreamBlock ? xid() : null;
    }

    private Xid xid() {
        int value = in.int32();
        if (value == 0) {
            throw in.notSet("transaction id");
        }
        if (lastXid.value() != value) {
            lastXid = new Xid(value);
        }
        return lastXid;
    }
}
