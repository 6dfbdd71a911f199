package dev.pgapply.worker.schema;

import java.math.BigInteger;

/**
 * Where a sequence stands, and within which bounds it moves (sequence.c).
 *
 * @param called whether {@code lastValue} was handed out already; else it is the next one
 * @param increment negative for a descending one, never 0
 */
public record SequenceValue(long lastValue, boolean called, long increment, long min, long max) {

    /** What nextval would give, unless it is beyond the bounds. */
    public BigInteger next() {
        BigInteger last = BigInteger.valueOf(lastValue);
        return called ? last.add(BigInteger.valueOf(increment)) : last;
    }

    private SequenceValue at(long value, boolean isCalled) {
        return new SequenceValue(value, isCalled, increment, min, max);
    }

    /** What is to be done with the target's sequence. */
    public enum Action {
        SET,
        /** The target would give the same next value. */
        UNCHANGED,
        /** The target is further on already, and is left there. */
        AHEAD,
        /** The publisher's value is none that the target's sequence can have. */
        OUT_OF_RANGE,
        /** One goes up, the other down. */
        OTHER_DIRECTION
    }

    /** @param value the target's sequence afterwards; as it is, where it is not set */
    public record Move(Action action, SequenceValue value) {}

    /**
     * How the target's sequence, this one, comes to where the publisher's stands: so that nextval gives the same, or with a margin that many
     * steps further on, but not beyond the bounds. It never moves against its own direction.
     *
     * @param margin how many of the publisher's steps to skip, not negative
     */
    public Move follow(SequenceValue publisher, long margin) {
        if (Long.signum(publisher.increment) != Long.signum(increment)) {
            return new Move(Action.OTHER_DIRECTION, this);
        }
        if (publisher.lastValue < min || publisher.lastValue > max) {
            return new Move(Action.OUT_OF_RANGE, this);
        }
        SequenceValue wanted = ahead(publisher, margin);
        int distance = wanted.next().compareTo(next()) * Long.signum(increment);
        if (distance == 0) {
            return new Move(Action.UNCHANGED, this);
        }
        return distance < 0 ? new Move(Action.AHEAD, this) : new Move(Action.SET, wanted);
    }

    private SequenceValue ahead(SequenceValue publisher, long margin) {
        BigInteger value = BigInteger.valueOf(publisher.lastValue)
                .add(BigInteger.valueOf(publisher.increment).multiply(BigInteger.valueOf(margin)));
        long bound = increment > 0 ? max : min;
        boolean beyond = value.subtract(BigInteger.valueOf(bound)).signum() == Long.signum(increment);
        if (!beyond) {
            return at(value.longValueExact(), publisher.called);
        }
        // The margin ends at the last value there is, which is still to be given unless the publisher has given it.
        return at(bound, publisher.called && publisher.lastValue == bound);
    }
}
