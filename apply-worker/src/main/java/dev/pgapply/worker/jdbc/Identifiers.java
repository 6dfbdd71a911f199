package dev.pgapply.worker.jdbc;

import dev.pgapply.core.QualifiedName;
import java.util.Collection;
import java.util.stream.Collectors;

/** Names as SQL text: always quoted, so that no case is folded and no reserved word hurts (ruleutils.c, quote_identifier). */
public final class Identifiers {

    private Identifiers() {}

    public static String quote(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    public static String quote(QualifiedName name) {
        return quote(name.schema()) + "." + quote(name.name());
    }

    /** The names quoted, with commas between them. */
    public static String list(Collection<String> names) {
        return names.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
    }

    /** A string as an SQL literal; for the few places that take no parameter. */
    public static String literal(String text) {
        String quoted = "'" + text.replace("'", "''") + "'";
        return text.indexOf('\\') < 0 ? quoted : "E" + quoted.replace("\\", "\\\\");
    }
}
