package dev.pgapply.core.tablesync;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * How fast tables are copied beside the stream: at full speed for as long as that keeps nobody waiting, else only as fast as lets a commit
 * take about as long as it did while nothing was copied. What counts is the delay of small transactions, as background transfers give way
 * by delay (RFC 6817, LEDBAT): wherever copy and stream meet (a core, a disk, a wire, on either server), it shows there. The speed is
 * lowered and not the work interrupted, because megabytes of rows wait in the sockets before the target.
 *
 * <p>A quarter of the fastest speed is always left to the copy, and a delay that even that does not shorten is the usual one from then on. A
 * stream that rests, or whose transactions do not come alone, asks for nothing.
 *
 * <p>Used by the apply session's thread and those of the copy workers at once.
 */
public final class CopyPace {

    /** At least so many delays decide together, by their median. */
    static final int LEAST_DELAYS = 8;

    /** And for so long they are gathered, lest the speed be that of a burst. */
    static final long WINDOW_NANOS = 250_000_000L;

    /** The last so many delays of a window, and of those while nothing was copied, count. */
    static final int MOST_DELAYS = 64;

    /** Delays are called longer beyond this many times the usual one. */
    static final double TOLERATED = 1.25;

    static final double SLOWER = 0.7;
    static final double FASTER = 1.15;

    /** The part of the fastest speed that a copy always has: a commit that takes a little less is not worth a night more of copying. */
    static final double LEAST = 0.25;

    /** So many windows at the least speed, with longer delays all the same, and it is not the copy that makes them longer. */
    static final int PATIENCE = 8;

    /** Without a small transaction for this long the stream is at rest. */
    static final long REST_NANOS = 1_000_000_000L;

    /** A large row may be worth a longer one; nobody shall take the pause for a copy that hangs. */
    static final long LONGEST_PAUSE_NANOS = 500_000_000L;

    /** What the work itself took, and a pause that was too long, is taken off the next pauses, up to this. */
    private static final long CREDIT_NANOS = 20_000_000L;

    private static final double NANOS_PER_SECOND = 1e9;

    private final LongSupplier nanos;
    private final Delays usual = new Delays();
    private final Delays window = new Delays();
    private int copying;
    private long appliedAt;

    /** In bytes a second, of all workers; zero: none. */
    private double limit;

    private double fastest;

    /** How many windows in a row have found no speed to take away any more. */
    private int inVain;

    private long carried;
    private long windowSince;

    /** When all that was carried would have been carried at the limit. */
    private long freeAt;

    /** @param nanos elapsed time from an arbitrary start */
    public CopyPace(LongSupplier nanos) {
        this.nanos = nanos;
        this.appliedAt = nanos.getAsLong() - REST_NANOS;
    }

    /** By the clock that delays are measured with, in nanoseconds. */
    public long now() {
        return nanos.getAsLong();
    }

    /** A table begins to be synchronised. */
    public synchronized void begin() {
        copying++;
        if (copying == 1) {
            restart(now());
        }
    }

    /** A table's synchronisation has ended, one way or the other. */
    public synchronized void end() {
        copying--;
    }

    private void restart(long now) {
        window.clear();
        carried = 0;
        windowSince = now;
    }

    /**
     * A small transaction that came alone is committed on the target.
     *
     * @param since when it was handed to the apply session
     */
    public synchronized void applied(long since) {
        long now = now();
        appliedAt = now;
        if (copying == 0) {
            usual.add(now - since);
            return;
        }
        window.add(now - since);
        if (window.size() >= LEAST_DELAYS && now - windowSince >= WINDOW_NANOS) {
            if (usual.size() >= LEAST_DELAYS && carried > 0) {
                decide(carried * NANOS_PER_SECOND / (now - windowSince));
            }
            restart(now);
        }
    }

    private void decide(double speed) {
        fastest = Math.max(fastest, speed);
        double least = fastest * LEAST;
        if (window.median() > usual.median() * TOLERATED) {
            inVain = limit > 0 && limit <= least ? inVain + 1 : 0;
            limit = Math.max(least, (limit == 0 ? speed : Math.min(limit, speed)) * SLOWER);
            if (inVain == PATIENCE) {
                usual.setTo(window);
                inVain = 0;
            }
        } else {
            inVain = 0;
            limit *= FASTER;
            if (limit >= fastest) {
                limit = 0;
            }
        }
    }

    /**
     * A worker has carried so many bytes more.
     *
     * @return for how long it shall pause now, in nanoseconds; zero: go on
     */
    public synchronized long carried(long bytes) {
        carried += bytes;
        long now = now();
        if (limit == 0 || now - appliedAt >= REST_NANOS) {
            freeAt = now;
            return 0;
        }
        long due = Math.max(freeAt, now - CREDIT_NANOS) + (long) (bytes * NANOS_PER_SECOND / limit);
        freeAt = Math.min(due, now + LONGEST_PAUSE_NANOS);
        return Math.max(0, freeAt - now);
    }

    /** The newest delays, up to a number. */
    private static final class Delays {

        private final long[] values = new long[MOST_DELAYS];
        private int count;

        void add(long delay) {
            values[count++ % values.length] = delay;
        }

        int size() {
            return Math.min(count, values.length);
        }

        void clear() {
            count = 0;
        }

        void setTo(Delays others) {
            count = others.size();
            System.arraycopy(others.values, 0, values, 0, count);
        }

        long median() {
            long[] sorted = Arrays.copyOf(values, size());
            Arrays.sort(sorted);
            return sorted[sorted.length / 2];
        }
    }
}
