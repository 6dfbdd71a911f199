package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;

/** PostgreSQL's own subscription. */
record NativeContestant(String streaming) implements Contestant {

    @Override
    public String name() {
        return "native_" + streaming;
    }

    @Override
    public boolean applies() {
        return true;
    }

    @Override
    public Run start(Database publisher, Database target, String slot) {
        target.execute("CREATE SUBSCRIPTION bench CONNECTION " + Database.literal(publisher.libpqKeywords())
                + " PUBLICATION bench WITH (create_slot = false, copy_data = false, slot_name = " + slot
                + ", streaming = " + streaming + ")");
        return new Run() {
            @Override
            public double cpuSeconds() {
                return 0;
            }

            @Override
            public void check() {
                if (target.number("SELECT count(*) FROM pg_subscription WHERE subenabled") != 1) {
                    throw new IllegalStateException("the native subscription is disabled");
                }
            }

            @Override
            public void close() {
                target.execute(
                        "ALTER SUBSCRIPTION bench DISABLE",
                        "ALTER SUBSCRIPTION bench SET (slot_name = NONE)",
                        "DROP SUBSCRIPTION bench");
            }
        };
    }
}
