package dev.pgapply.worker.stats;

/**
 * What pg_stat_replication_slots says of the subscription's slot, counted by the publisher since its statistics were last reset: what
 * did not fit into logical_decoding_work_mem and was written to the publisher's disk, and what was streamed instead.
 *
 * @param spillTxns transactions that were spilled
 * @param spillCount how often transactions were spilled
 * @param spillBytes decoded bytes that were spilled
 * @param streamTxns transactions that were streamed in progress
 * @param streamCount how often transactions were streamed: their blocks
 * @param streamBytes decoded bytes that were streamed
 */
public record SlotStatistics(
        long spillTxns, long spillCount, long spillBytes, long streamTxns, long streamCount, long streamBytes) {}
