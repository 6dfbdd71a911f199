package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.jspecify.annotations.Nullable;

/** How an error looks on stderr. */
final class ErrorText {

    private ErrorText() {}

    static String of(String message, @Nullable String hint, boolean json) {
        if (json) {
            return JsonNodeFactory.instance.objectNode().put("error", message).put("hint", hint) + "\n";
        }
        return "pgapply: " + message + "\n" + (hint == null ? "" : "hint: " + hint + "\n");
    }

    static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
