package dev.pgapply.core;

/**
 * The name of a table with its schema, exactly as the catalogs have it: never folded, quoted or truncated.
 */
public record QualifiedName(String schema, String name) {

    /** As PostgreSQL's messages write it, for people: {@code schema.name} without quotes. */
    @Override
    public String toString() {
        return schema + "." + name;
    }
}
