package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import org.jspecify.annotations.Nullable;

/**
 * A database object that another one needs, as pg_identify_object names it: the same text on every server.
 *
 * @param type {@code type}, {@code function}, {@code collation}, {@code operator class}, {@code sequence}, …
 * @param schema null for an object that has none
 * @param identity {@code public.f(integer)}, quoted where need be
 * @param extension the extension that brought it, null for none
 * @param relation its name if it is a relation, else null
 */
public record ObjectIdentity(
        String type,
        @Nullable String schema,
        String identity,
        @Nullable String extension,
        @Nullable QualifiedName relation) {

    /** What decides whether two servers mean the same object. */
    public String key() {
        return type + " " + identity;
    }

    /** {@code function public.f(integer)}, and which extension has it; for people. */
    @Override
    public String toString() {
        return key() + (extension == null ? "" : " of extension \"" + extension + "\"");
    }
}
