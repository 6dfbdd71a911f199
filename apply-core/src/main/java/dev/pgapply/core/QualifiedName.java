package dev.pgapply.core;

/**
 * The name of a table with its schema, exactly as the catalogs have it: never folded, quoted or truncated.
 */
public record QualifiedName(String schema, String name) {

    /**
     * Reads {@code schema.table}, quoted as in SQL: unquoted letters become lower case, in quotes everything stands for itself and {@code ""}
     * for one quote.
     *
     * @throws IllegalArgumentException if it is something else
     */
    public static QualifiedName parse(String text) {
        StringBuilder part = new StringBuilder();
        String schema = null;
        boolean quoted = false;
        boolean ended = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted) {
                if (c != '"') {
                    part.append(c);
                } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
                    part.append(c);
                    i++;
                } else {
                    quoted = false;
                    ended = true;
                }
            } else if (c == '.' && schema == null && !part.isEmpty()) {
                schema = part.toString();
                part.setLength(0);
                ended = false;
            } else if (c == '"' && part.isEmpty() && !ended) {
                quoted = true;
            } else if (!ended && (Character.isLetterOrDigit(c) || c == '_' || c == '$')) {
                part.append(c < 128 ? Character.toLowerCase(c) : c);
            } else {
                throw notAName(text);
            }
        }
        if (quoted || schema == null || part.isEmpty()) {
            throw notAName(text);
        }
        return new QualifiedName(schema, part.toString());
    }

    private static IllegalArgumentException notAName(String text) {
        return new IllegalArgumentException(
                "invalid table name \"" + text + "\": expected schema.table, quoted as in SQL, such as public.orders");
    }

    /** As PostgreSQL's messages write it, for people: {@code schema.name} without quotes. */
    @Override
    public String toString() {
        return schema + "." + name;
    }
}
