package dev.pgapply.worker.origin;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many standbys must have flushed a commit, as {@code synchronous_standby_names} says it (syncrep_gram.y): {@code FIRST n (…)},
 * {@code ANY n (…)}, {@code n (…)}, or a list, which means the first one.
 *
 * @param count zero if the server waits for no standby
 */
record SynchronousStandbys(int count) {

    private static final Pattern COUNTED =
            Pattern.compile("\\s*(?:(?:FIRST|ANY)\\s+)?(\\d+)\\s*\\(.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    static SynchronousStandbys parse(String setting) {
        if (setting.isBlank()) {
            return new SynchronousStandbys(0);
        }
        Matcher counted = COUNTED.matcher(setting);
        return new SynchronousStandbys(counted.matches() ? Integer.parseInt(counted.group(1)) : 1);
    }
}
