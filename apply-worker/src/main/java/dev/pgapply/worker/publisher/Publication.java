package dev.pgapply.worker.publisher;

/** A publication as the publisher's catalog has it (pg_publication). */
public record Publication(
        String name,
        boolean allTables,
        boolean insert,
        boolean update,
        boolean delete,
        boolean truncate,
        boolean viaPartitionRoot) {}
