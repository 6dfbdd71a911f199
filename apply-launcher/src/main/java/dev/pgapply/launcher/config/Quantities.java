package dev.pgapply.launcher.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Times and sizes with PostgreSQL's units (guc.c, convert_to_base_unit): letter case matters, a space before the unit is allowed. */
final class Quantities {

    private static final Pattern QUANTITY = Pattern.compile("([0-9]{1,15}) ?([A-Za-z]*)");

    private static final Map<String, Duration> TIMES = Map.of(
            "us", Duration.ofNanos(1_000),
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "min", Duration.ofMinutes(1),
            "h", Duration.ofHours(1),
            "d", Duration.ofDays(1));

    private static final List<String> SIZES = List.of("B", "kB", "MB", "GB", "TB");

    private Quantities() {}

    /** Null if the text is no time; a number without a unit is one only if it is 0. */
    static @Nullable Duration duration(String text) {
        Matcher matcher = QUANTITY.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long number = Long.parseLong(matcher.group(1));
        if (number == 0 && matcher.group(2).isEmpty()) {
            return Duration.ZERO;
        }
        Duration unit = TIMES.get(matcher.group(2));
        try {
            return unit == null ? null : unit.multipliedBy(number);
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /** -1 if the text is no size; a number without a unit is in bytes. */
    static long bytes(String text) {
        Matcher matcher = QUANTITY.matcher(text);
        if (!matcher.matches()) {
            return -1;
        }
        int power = matcher.group(2).isEmpty() ? 0 : SIZES.indexOf(matcher.group(2));
        long number = Long.parseLong(matcher.group(1));
        if (power < 0 || number > Long.MAX_VALUE >> (10 * power)) {
            return -1;
        }
        return number << (10 * power);
    }

    static String show(Duration duration) {
        if (duration.toMillis() < 1000) {
            return duration.toMillis() + "ms";
        }
        return duration.toSeconds() % 3600 == 0 ? duration.toHours() + "h" : duration.toSeconds() + "s";
    }

    /** In the largest unit that leaves a whole number. */
    static String show(long bytes) {
        long number = bytes;
        int power = 0;
        while (power < SIZES.size() - 1 && number != 0 && number % 1024 == 0) {
            number /= 1024;
            power++;
        }
        return number + SIZES.get(power);
    }
}
