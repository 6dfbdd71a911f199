package dev.pgapply.worker.preflight;

import dev.pgapply.core.Lsn;

/**
 * Up to where a subscription with {@code binary: auto} asks for text although the catalogs of today agree: the stream still brings changes
 * of a time when they did not. One a subscription, for as long as the engine runs; a new engine learns it by the same failure. Written by
 * the leader's thread of each life, one after the other.
 */
public final class TextFallback {

    private volatile Lsn until = Lsn.ZERO;

    /**
     * A relation came whose types disagree.
     *
     * @param publisherLsn the publisher's position when the life began: what the catalogs said then is not older
     */
    public void need(Lsn publisherLsn) {
        until = until.max(publisherLsn);
    }

    /** Whether a stream that starts there must be text. */
    public boolean isNeeded(Lsn startLsn) {
        return startLsn.isBefore(until);
    }
}
