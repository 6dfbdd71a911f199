package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.preflight.Finding.Severity;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a preflight has found so far. Owned by the thread that runs it. */
final class Findings {

    private final List<Finding> found = new ArrayList<>();

    void ok(String code, String message) {
        found.add(new Finding(Severity.OK, code, message, null, Kind.PRECONDITION));
    }

    void warning(String code, String message, @Nullable String hint) {
        found.add(new Finding(Severity.WARNING, code, message, hint, Kind.PRECONDITION));
    }

    void error(String code, String message, @Nullable String hint) {
        found.add(new Finding(Severity.ERROR, code, message, hint, Kind.PRECONDITION));
    }

    /** What failed was a check itself: its own sentence is the finding. */
    void error(String code, ApplyException failure) {
        found.add(new Finding(Severity.ERROR, code, failure.getMessage(), failure.hint(), failure.kind()));
    }

    /** Runs a check; where the check itself fails, that is its finding, and the next one runs all the same. */
    void check(String code, Runnable check) {
        try {
            check.run();
        } catch (ApplyException e) {
            error(code, e);
        }
    }

    List<Finding> toList() {
        return List.copyOf(found);
    }
}
