package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.spool.HeldSpool;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.tablesync.HeldTables.Route;
import dev.pgapply.core.tablesync.SubscribedTables.Entry;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeldTablesTest {

    private static final QualifiedName ORDERS = new QualifiedName("public", "orders");
    private static final QualifiedName USERS = new QualifiedName("public", "users");
    private static final Lsn SYNC = Lsn.parse("0/2000");
    private static final Lsn BEFORE = Lsn.parse("0/1FFF");

    @TempDir
    private Path directory;

    private final HeldTables tables =
            new HeldTables(new SubscribedTables(Map.of(ORDERS, new Entry(TableSyncState.READY, null))));

    private HeldSpool spool() {
        return SpoolDirectory.open(directory, 7, 0).hold();
    }

    @Test
    void a_held_table_is_held_and_the_others_are_not() {
        HeldSpool spool = spool();
        tables.hold(ORDERS, spool);
        HeldSpool unused = tables.set(USERS, new Entry(TableSyncState.READY, null));

        assertThat(tables.route(ORDERS, SYNC)).isEqualTo(Route.HOLD);
        assertThat(tables.route(USERS, SYNC)).isEqualTo(Route.APPLY);
        assertThat(tables.spool(ORDERS)).isSameAs(spool);
        assertThat(tables.subscribed().allTake(SYNC)).isFalse();
    }

    @Test
    void once_it_is_copied_it_takes_what_commits_at_its_sync_lsn_or_later() {
        HeldSpool spool = spool();
        tables.hold(ORDERS, spool);

        HeldSpool given = tables.set(ORDERS, new Entry(TableSyncState.SYNCDONE, SYNC));

        assertThat(given).isSameAs(spool);
        assertThat(tables.route(ORDERS, SYNC)).isEqualTo(Route.APPLY);
        assertThat(tables.route(ORDERS, BEFORE)).isEqualTo(Route.SKIP);
        assertThat(tables.spool(ORDERS)).isNull();
    }

    @Test
    void given_up_it_takes_nothing() {
        tables.hold(ORDERS, spool());

        HeldSpool unused = tables.set(ORDERS, new Entry(TableSyncState.DATASYNC, null));

        assertThat(tables.route(ORDERS, SYNC)).isEqualTo(Route.SKIP);
    }

    @Test
    void a_table_that_is_not_or_no_longer_subscribed_to_is_told_from_one_to_be_copied() {
        HeldSpool unused = tables.remove(ORDERS);

        assertThat(tables.route(ORDERS, SYNC)).isEqualTo(Route.NOT_SUBSCRIBED);
        assertThat(tables.route(USERS, SYNC)).isEqualTo(Route.NOT_SUBSCRIBED);
    }

    @Test
    void a_table_is_held_once() {
        HeldSpool spool = spool();
        tables.hold(ORDERS, spool);

        assertThatIllegalStateException().isThrownBy(() -> tables.hold(ORDERS, spool));
    }
}
