package dev.pgapply.core.pgoutput;

/** How the publisher identifies rows of a relation (pg_class.relreplident). */
public enum ReplicaIdentity {
    DEFAULT('d'),
    NOTHING('n'),
    FULL('f'),
    INDEX('i');

    private final char code;

    ReplicaIdentity(char code) {
        this.code = code;
    }

    /** The byte on the wire and in the catalog. */
    public char code() {
        return code;
    }
}
