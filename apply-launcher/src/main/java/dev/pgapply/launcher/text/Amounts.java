package dev.pgapply.launcher.text;

import java.time.Duration;
import java.util.Locale;

/** Sizes, counts and times as a person reads them. */
public final class Amounts {

    private static final String[] SIZES = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

    private Amounts() {}

    /** {@code 512 B}, {@code 1.5 MB}: in units of 1024, as PostgreSQL's pg_size_pretty. */
    public static String bytes(long bytes) {
        double size = bytes;
        int unit = 0;
        while (size >= 1024 && unit < SIZES.length - 1) {
            size /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", size, SIZES[unit]);
    }

    /** {@code 1,234,567}. */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    public static String counted(long count, String one, String many) {
        return count(count) + " " + (count == 1 ? one : many);
    }

    /** {@code 0.3 s}, {@code 42 s}, {@code 3 min 5 s}, {@code 2 h 7 min}, {@code 3 d 4 h}. */
    public static String duration(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 10) {
            return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
        }
        if (seconds < 60) {
            return seconds + " s";
        }
        if (seconds < 3600) {
            return seconds / 60 + " min " + seconds % 60 + " s";
        }
        if (seconds < 86_400) {
            return seconds / 3600 + " h " + seconds / 60 % 60 + " min";
        }
        return seconds / 86_400 + " d " + seconds / 3600 % 24 + " h";
    }
}
