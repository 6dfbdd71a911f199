package dev.pgapply.core;

/**
 * A transaction id of the publisher: PostgreSQL's 32-bit {@code TransactionId}, unsigned and without epoch. It wraps around; two
 * ids are only ever compared for equality.
 */
public record Xid(int value) {

    @Override
    public String toString() {
        return Integer.toUnsignedString(value);
    }
}
