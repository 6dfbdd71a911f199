package dev.pgapply.worker.catalog;

/**
 * Which cluster and database a subscription follows.
 *
 * @param systemIdentifier as IDENTIFY_SYSTEM prints it
 * @param timeline the timeline at that moment
 */
public record PublisherIdentity(String systemIdentifier, int timeline, String database) {}
