package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.TableComparison;
import java.util.List;

/**
 * A publisher's database and two targets' that get the same messages, one by the fast path and one by the exact path. Both must then
 * hold what the publisher holds.
 */
final class DialectFixture implements AutoCloseable {

    private final DatabasePair pair;
    private final Database second;
    private final ChangeFeed feed;
    private final DialectTarget fast;
    private final DialectTarget exact;

    private DialectFixture(
            DatabasePair pair,
            DialectTarget.Path path,
            boolean binary,
            List<String> everywhere,
            List<String> onTargets) {
        this.pair = pair;
        this.second = pair.target().server().createDatabase(pair.name() + "_exact");
        String[] ddl = everywhere.toArray(String[]::new);
        pair.onBoth(ddl).publishAll();
        second.execute(ddl);
        String[] local = onTargets.toArray(String[]::new);
        pair.target().execute(local);
        second.execute(local);
        this.feed = ChangeFeed.open(pair.publisher(), pair.name(), binary);
        this.fast = new DialectTarget(pair.target(), path);
        this.exact = new DialectTarget(second, DialectTarget.Path.EXACT);
    }

    /** On the shared servers; the statements run on all three databases. */
    static DialectFixture with(boolean binary, String... everywhere) {
        return new DialectFixture(
                DatabasePair.shared(), DialectTarget.Path.FAST, binary, List.of(everywhere), List.of());
    }

    static DialectFixture with(DatabasePair pair, boolean binary, List<String> everywhere, List<String> onTargets) {
        return new DialectFixture(pair, DialectTarget.Path.FAST, binary, everywhere, onTargets);
    }

    /** The path takes the place of the fast one. */
    static DialectFixture by(DialectTarget.Path path, boolean binary, List<String> everywhere, List<String> onTargets) {
        return new DialectFixture(DatabasePair.shared(), path, binary, everywhere, onTargets);
    }

    Database publisher() {
        return pair.publisher();
    }

    DialectTarget fast() {
        return fast;
    }

    DialectTarget exact() {
        return exact;
    }

    /** Runs statements on both targets, whose tables are then described anew. */
    void onTargets(String... statements) {
        changeTargets(statements);
        fast.describeAnew();
        exact.describeAnew();
    }

    /** Runs statements on both targets that change rows alone: a description costs more than most changes. */
    void changeTargets(String... statements) {
        fast.database().execute(statements);
        exact.database().execute(statements);
    }

    /** Runs statements on the publisher, and applies what comes of them as one batch by each path. */
    void replicate(String... statements) {
        publisher().execute(statements);
        List<PgOutputMessage> messages = feed.next();
        fast.apply(messages);
        exact.apply(messages);
    }

    /** Applies what was committed on the publisher by the fast path only. */
    void replicateFastOnly() {
        fast.apply(feed.next());
    }

    /** The messages of what was committed on the publisher since the last call. */
    List<PgOutputMessage> next() {
        return feed.next();
    }

    /** Passes over what was committed on the publisher. */
    void skip() {
        feed.next();
    }

    void assertSame(String... tables) {
        TableComparison.of(publisher(), fast.database()).assertSame(tables);
        TableComparison.of(publisher(), exact.database()).assertSame(tables);
    }

    /** Both targets hold the same, whatever the publisher holds, and found as many rows missing. */
    void assertBothPathsAgree(String table) {
        assertThat(fast.rows(table)).isEqualTo(exact.rows(table));
        assertThat(fast.missing()).isEqualTo(exact.missing());
    }

    @Override
    public void close() {
        fast.close();
        exact.close();
        feed.close();
        second.drop();
        pair.close();
    }
}
