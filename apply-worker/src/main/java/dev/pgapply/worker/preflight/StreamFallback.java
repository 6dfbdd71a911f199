package dev.pgapply.worker.preflight;

import dev.pgapply.core.Lsn;

/**
 * Up to where a subscription asks the publisher for less than its options say, because an earlier life has failed there. One a
 * subscription, for as long as the engine runs; a new engine learns it by the same failure. Written by the leader's thread of each life,
 * one after the other.
 */
public final class StreamFallback {

    private volatile Lsn textUntil = Lsn.ZERO;
    private volatile Lsn wholeUntil = Lsn.ZERO;

    /**
     * With {@code binary: auto} a relation came whose types disagree, although the catalogs of today agree: the stream still brings changes
     * of a time when they did not.
     *
     * @param publisherLsn the publisher's position when the life began: what the catalogs said then is not older
     */
    public void needText(Lsn publisherLsn) {
        textUntil = textUntil.max(publisherLsn);
    }

    /** Whether a stream that starts there must be text. */
    public boolean isTextNeeded(Lsn startLsn) {
        return startLsn.isBefore(textUntil);
    }

    /**
     * The walsender could not decode a transaction in progress. At its commit it may: what was rolled back to a savepoint in between, with
     * an ALTER in it, is left out then (reorderbuffer.c, "could not map filenumber … to relation OID").
     *
     * @param publisherLsn the publisher's position when the life began; where the transaction is newer, the next life fails once more
     */
    public void needWhole(Lsn publisherLsn) {
        wholeUntil = wholeUntil.max(publisherLsn);
    }

    /** Whether a stream that starts there must bring transactions whole, as with {@code streaming: off}. */
    public boolean isWholeNeeded(Lsn startLsn) {
        return startLsn.isBefore(wholeUntil);
    }
}
