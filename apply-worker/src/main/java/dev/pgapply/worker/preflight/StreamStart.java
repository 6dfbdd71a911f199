package dev.pgapply.worker.preflight;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.worker.publisher.PublisherFacts;

/**
 * What a subscription begins to stream with, read after the takeover.
 *
 * @param startLsn where the target stands, durably: the publisher begins there
 * @param publisherLsn the publisher's position at that moment
 * @param twoPhase whether prepared transactions are asked for as such
 * @param binary whether values are asked for in binary
 */
public record StreamStart(
        int subid,
        Lsn startLsn,
        SubscribedTables tables,
        PublisherFacts publisher,
        Lsn publisherLsn,
        boolean twoPhase,
        boolean binary) {}
