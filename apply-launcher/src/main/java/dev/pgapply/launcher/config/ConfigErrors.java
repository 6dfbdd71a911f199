package dev.pgapply.launcher.config;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.Collection;
import java.util.Comparator;
import java.util.TreeSet;

/** The sentences that refuse a configuration: each names the key and its place, and what would be right. */
final class ConfigErrors {

    private ConfigErrors() {}

    static ApplyException refused(String message, String hint) {
        return ApplyException.withHint(Kind.CONFIGURATION, message, hint);
    }

    static ApplyException outOfRange(String path, String value, String place, String range) {
        String shown = value.replaceAll("\\p{Cntrl}", "?");
        return refused(
                "\"" + path + "\" is \"" + shown + "\" (" + place + "): it must be " + range, "correct the value");
    }

    /** The value of an unknown key is not shown: it may be a misspelt password. */
    static ApplyException unknownKey(String path, String key, String place, Collection<String> known) {
        String nearest = known.stream()
                .min(Comparator.comparingInt(candidate -> distance(key, candidate)))
                .filter(candidate -> distance(key, candidate) <= Math.max(2, key.length() / 3))
                .orElse("");
        return refused(
                "unknown key \"" + path + "\" (" + place + ")",
                nearest.isEmpty()
                        ? "known keys are " + String.join(", ", new TreeSet<>(known))
                        : "did you mean \"" + nearest + "\"?");
    }

    /** Levenshtein's distance. */
    private static int distance(String from, String to) {
        int[] previous = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] current = new int[to.length() + 1];
            current[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = previous[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(changed, Math.min(previous[j], current[j - 1]) + 1);
            }
            previous = current;
        }
        return previous[to.length()];
    }
}
