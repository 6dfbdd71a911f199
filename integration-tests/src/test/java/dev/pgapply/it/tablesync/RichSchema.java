package dev.pgapply.it.tablesync;

/** A schema with one of everything that can be created, under names that must be quoted, and rows in it. Every version takes it. */
final class RichSchema {

    /** 63 bytes each. */
    static final String LONG_NAME = "表".repeat(21);

    static final String[] STATEMENTS = {
        """
        CREATE SCHEMA "Sch.ema";
        CREATE TYPE "Sch.ema"."Mood" AS ENUM ('sad', 'it''s \\ok', 'hap"py', 'größe');
        CREATE DOMAIN "Sch.ema".positive AS int DEFAULT 1 CONSTRAINT "must be" CHECK (VALUE > 0);
        CREATE DOMAIN moods AS "Sch.ema"."Mood"[];
        CREATE TYPE "Sch.ema".pair AS (a "Sch.ema".positive, "B" "Sch.ema"."Mood"[], c text COLLATE "C");
        CREATE TYPE "Sch.ema".span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi, MULTIRANGE_TYPE_NAME = "Sch.ema"."Spans");
        CREATE SEQUENCE "Odd.seq" AS smallint START 7 INCREMENT -3 MINVALUE -100 MAXVALUE 100 CACHE 5 CYCLE;
        """,
        """
        CREATE TABLE "Sch.ema"."select" (
            "order" int GENERATED ALWAYS AS IDENTITY (START 100 INCREMENT 10 SEQUENCE NAME "Sch.ema"."its own"),
            "Group By" varchar(20) COLLATE "C" NOT NULL DEFAULT 'x;''y{',
            mood "Sch.ema"."Mood" DEFAULT 'sad', moods moods, p "Sch.ema".positive NOT NULL, pr "Sch.ema".pair[],
            s "Sch.ema".span, ms "Sch.ema"."Spans", n numeric(12, 4) CHECK (n > 0),
            dbl numeric GENERATED ALWAYS AS (n * 2) STORED, odd smallint DEFAULT nextval('"Odd.seq"'),
            \"""q""\" text, "%s $1 ?" text CONSTRAINT "chk{}" CHECK ("%s $1 ?" <> '{?}'), t timestamptz(3) DEFAULT now(),
            b bit(3), iv interval day to second(2), big text, a int[] DEFAULT '{1,2}', box box,
            PRIMARY KEY ("order"), CONSTRAINT "uniq?" UNIQUE ("Group By", mood) DEFERRABLE,
            CONSTRAINT apart EXCLUDE USING gist (box WITH &&)) WITH (fillfactor = 70);
        ALTER TABLE "Sch.ema"."select" ALTER big SET STORAGE EXTERNAL;
        CREATE INDEX "an INDEX ON ONLY USING x" ON "Sch.ema"."select" USING btree
            (lower("Group By") text_pattern_ops DESC NULLS LAST, mood) INCLUDE (n) WITH (fillfactor = 80) WHERE n > 1;
        INSERT INTO "Sch.ema"."select" ("Group By", mood, moods, p, pr, s, ms, n, "%s $1 ?", b, iv, big, box)
            SELECT 'g' || g, 'größe', '{sad}', g, ARRAY[ROW(g, ARRAY['hap"py']::"Sch.ema"."Mood"[], 'c')]::"Sch.ema".pair[], '[1,2)', '{[1,2)}', g,
            '?', B'101', '1 day', repeat('x', 5000), box(point(g, g), point(g + 0.5, g + 0.5)) FROM generate_series(1, 20) g;
        """,
        """
        CREATE TABLE child (id serial PRIMARY KEY, "sel""ect" int REFERENCES "Sch.ema"."select" ON DELETE CASCADE
            DEFERRABLE INITIALLY DEFERRED, self int REFERENCES child, big bigserial, k int NOT NULL);
        CREATE UNIQUE INDEX child_ri ON child (k, id);
        ALTER TABLE child REPLICA IDENTITY USING INDEX child_ri;
        INSERT INTO child ("sel""ect", self, k) SELECT 100, NULL, g FROM generate_series(1, 10) g;
        UPDATE child SET self = id;
        """,
        "ALTER TABLE child ADD CONSTRAINT \"old rows may\" CHECK (k > 5) NOT VALID",
        """
        CREATE TABLE "Item" (id int PRIMARY KEY, v text); CREATE TABLE item (LIKE "Item" INCLUDING ALL);
        CREATE TABLE "ITEM" (LIKE "Item" INCLUDING ALL, w int UNIQUE); INSERT INTO "Item" VALUES (1, 'a');
        CREATE TABLE full_row (v text, d date); ALTER TABLE full_row REPLICA IDENTITY FULL;
        CREATE TABLE append (v text); ALTER TABLE append REPLICA IDENTITY NOTHING; INSERT INTO append VALUES ('a'), ('a');
        CREATE TABLE columnless (); INSERT INTO columnless DEFAULT VALUES;
        CREATE TABLE base (id int PRIMARY KEY, v text DEFAULT 'b' CHECK (v <> ''));
        CREATE TABLE kid (extra int, PRIMARY KEY (id)) INHERITS (base);
        INSERT INTO base VALUES (1, 'b'); INSERT INTO kid VALUES (2, 'k', 9);
        """,
        """
        CREATE TABLE ev (id int NOT NULL, d date, v text DEFAULT 'r', c int REFERENCES child, CONSTRAINT ev_v CHECK (v <> 'no'),
            PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
        CREATE TABLE ev20 (v text DEFAULT 'leaf', x int, d date NOT NULL, c int, id int NOT NULL, CONSTRAINT ev_v CHECK (v <> 'no'));
        ALTER TABLE ev20 DROP COLUMN x;
        ALTER TABLE ev ATTACH PARTITION ev20 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
        CREATE TABLE "Sch.ema".ev21 PARTITION OF ev FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY HASH (id);
        CREATE TABLE "Sch.ema".ev21_0 PARTITION OF "Sch.ema".ev21 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE "Sch.ema".ev21_1 PARTITION OF "Sch.ema".ev21 FOR VALUES WITH (MODULUS 2, REMAINDER 1) WITH (fillfactor = 50);
        CREATE TABLE ev_rest PARTITION OF ev DEFAULT;
        CREATE INDEX ev_v_idx ON ev (v); CREATE INDEX only_here ON ev20 (d); CREATE UNIQUE INDEX ev_once ON ev (d, id, v);
        CREATE TABLE seen (id int, d date, FOREIGN KEY (id, d) REFERENCES ev);
        INSERT INTO ev SELECT g, date '2020-06-01' + g * 30, 'v', 1 FROM generate_series(1, 40) g;
        INSERT INTO seen SELECT id, d FROM ev WHERE id < 5;
        CREATE TABLE listed (k text, n int) PARTITION BY LIST (lower(k)); CREATE TABLE listed_a PARTITION OF listed FOR VALUES IN ('a', 'b', NULL);
        INSERT INTO listed VALUES ('A', 1);
        """,
        "DO $$ BEGIN EXECUTE format('CREATE TABLE %I (%I int PRIMARY KEY, %I text UNIQUE)', '" + LONG_NAME
                + "', repeat('é', 31) || 'x', repeat('é', 31) || 'y'); END $$",
    };

    private RichSchema() {}
}
