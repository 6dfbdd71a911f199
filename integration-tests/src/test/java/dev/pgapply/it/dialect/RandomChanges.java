package dev.pgapply.it.dialect;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random statements over tables of every kind of key, with few distinct values so that they meet. */
final class RandomChanges {

    static final List<String> TABLES = List.of("k", "kk", "nk", "f", "ff", "tb", "tf", "pt");

    static final List<String> DDL = List.of(
            "CREATE TABLE k(id int PRIMARY KEY, a int, b text, n numeric)",
            "CREATE TABLE kk(x int, v text, y text, PRIMARY KEY (y, x))",
            "CREATE TABLE nk(n numeric PRIMARY KEY, v int)",
            "CREATE TABLE f(a int, b text)",
            "CREATE TABLE ff(n numeric, b text)",
            "CREATE TABLE tb(id int PRIMARY KEY, a int, big text)",
            "CREATE TABLE tf(a int, big text, c int)",
            "CREATE TABLE pt(id int PRIMARY KEY, v text)",
            "ALTER TABLE tb ALTER big SET STORAGE EXTERNAL",
            "ALTER TABLE tf ALTER big SET STORAGE EXTERNAL",
            "ALTER TABLE f REPLICA IDENTITY FULL",
            "ALTER TABLE ff REPLICA IDENTITY FULL",
            "ALTER TABLE tf REPLICA IDENTITY FULL");

    static final List<String> ON_TARGETS = List.of(
            "ALTER TABLE k ADD extra int DEFAULT 7",
            "ALTER TABLE f ADD mine text DEFAULT 'm'",
            "ALTER TABLE kk ADD g text GENERATED ALWAYS AS (y || 'g') STORED",
            "DROP TABLE pt",
            "CREATE TABLE pt(v text, id int PRIMARY KEY) PARTITION BY HASH (id)",
            "CREATE TABLE pt0 PARTITION OF pt FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
            "CREATE TABLE pt1 PARTITION OF pt FOR VALUES WITH (MODULUS 2, REMAINDER 1)");

    /** What the triggers of {@link #WATCHED} saw, in their order; their numbers have gaps. */
    static final String SEEN = "(SELECT row_number() OVER (ORDER BY n), what, was, is_now FROM audit)";

    /** Triggers that see every change of some tables, and one that suppresses some of another's. */
    static final List<String> WATCHED = List.of(
            "CREATE TABLE audit(n bigserial PRIMARY KEY, what text, was text, is_now text)",
            "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
                    + " INSERT INTO public.audit(what, was, is_now)"
                    + " VALUES (TG_OP || ' ' || TG_TABLE_NAME, to_jsonb(OLD)::text, to_jsonb(NEW)::text);"
                    + " RETURN NULL; END$$",
            "CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
                    + " RETURN CASE WHEN NEW.v % 3 = 0 THEN NULL ELSE NEW END; END$$",
            "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON k FOR EACH ROW EXECUTE FUNCTION audit()",
            "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON kk FOR EACH ROW EXECUTE FUNCTION audit()",
            "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON f FOR EACH ROW EXECUTE FUNCTION audit()",
            "CREATE TRIGGER suppress BEFORE UPDATE ON nk FOR EACH ROW EXECUTE FUNCTION suppress()",
            "ALTER TABLE k ENABLE ALWAYS TRIGGER audit",
            "ALTER TABLE kk ENABLE ALWAYS TRIGGER audit",
            "ALTER TABLE f ENABLE ALWAYS TRIGGER audit",
            "ALTER TABLE nk ENABLE ALWAYS TRIGGER suppress");

    private final Random random;

    RandomChanges(Random random) {
        this.random = random;
    }

    /** Several transactions' texts. */
    List<String> transactions() {
        List<String> transactions = new ArrayList<>();
        int count = 1 + random.nextInt(8);
        for (int i = 0; i < count; i++) {
            StringBuilder text = new StringBuilder("BEGIN");
            int statements = 1 + random.nextInt(14);
            for (int j = 0; j < statements; j++) {
                text.append("; ").append(statement());
            }
            transactions.add(text.append(random.nextInt(12) == 0 ? "; ROLLBACK" : "; COMMIT")
                    .toString());
        }
        return transactions;
    }

    /** What a local user of the target does. */
    String localChange() {
        int id = id();
        return switch (random.nextInt(8)) {
            case 0 -> "DELETE FROM k WHERE id = " + id;
            case 1 -> "UPDATE k SET extra = extra + 1 WHERE id = " + id;
            case 2 -> "DELETE FROM kk WHERE x = " + id;
            case 3 -> "DELETE FROM f WHERE a = " + id;
            case 4 -> "DELETE FROM ff WHERE n = " + scaled();
            case 5 -> "DELETE FROM tf WHERE a = " + id;
            case 6 -> "DELETE FROM pt WHERE id = " + id;
            default -> "INSERT INTO tb VALUES (" + id + ", 0, 'local') ON CONFLICT DO NOTHING";
        };
    }

    private int id() {
        return random.nextInt(12);
    }

    private String number() {
        return id() + (random.nextBoolean() ? "" : random.nextBoolean() ? ".0" : ".00");
    }

    /**
     * A number whose scale its value decides. Rows of {@code ff} are found by their values, and 7.0 equals 7.00: which of two such rows a
     * change takes is open, in PostgreSQL too (RelationFindReplTupleSeq takes the first it meets), so a comparison could tell nothing.
     */
    private String scaled() {
        int id = id();
        return id + List.of("", ".0", ".00").get(id % 3);
    }

    private String text() {
        return random.nextInt(5) == 0 ? "NULL" : "'" + "abcé".charAt(random.nextInt(4)) + "'";
    }

    private String big() {
        return random.nextInt(4) == 0 ? text() : "repeat('" + (char) ('p' + random.nextInt(5)) + "0123456789', 900)";
    }

    private String oneOf(String table, String condition) {
        return "ctid = (SELECT ctid FROM " + table + " WHERE " + condition + " ORDER BY ctid LIMIT 1)";
    }

    private String statement() {
        if (random.nextInt(80) == 0) {
            return "TRUNCATE " + TABLES.get(random.nextInt(TABLES.size())) + ", f";
        }
        return switch (TABLES.get(random.nextInt(TABLES.size()))) {
            case "k" ->
                switch (random.nextInt(6)) {
                    case 0, 1 ->
                        "INSERT INTO k VALUES (" + id() + ", " + id() + ", " + text() + ", " + number()
                                + ") ON CONFLICT DO NOTHING";
                    case 2 -> "UPDATE k SET a = a + 1, b = " + text() + " WHERE id = " + id();
                    case 3 -> "UPDATE k SET n = " + number() + " WHERE id < " + id();
                    case 4 -> moveKey("k", "id");
                    default -> "DELETE FROM k WHERE id = " + id();
                };
            case "kk" ->
                switch (random.nextInt(4)) {
                    case 0, 1 ->
                        "INSERT INTO kk VALUES (" + id() + ", " + text() + ", 'y" + random.nextInt(3)
                                + "') ON CONFLICT DO NOTHING";
                    case 2 -> "UPDATE kk SET v = " + text() + " WHERE x = " + id();
                    default -> "DELETE FROM kk WHERE x = " + id();
                };
            case "nk" ->
                switch (random.nextInt(4)) {
                    case 0, 1 -> "INSERT INTO nk VALUES (" + number() + ", " + id() + ") ON CONFLICT DO NOTHING";
                    case 2 -> "UPDATE nk SET v = v + 1, n = n + 0.00 WHERE n = " + number();
                    default -> "DELETE FROM nk WHERE n = " + number();
                };
            case "f" ->
                switch (random.nextInt(5)) {
                    case 0, 1 -> "INSERT INTO f VALUES (" + id() + ", " + text() + ")";
                    case 2 -> "UPDATE f SET b = " + text() + " WHERE a = " + id();
                    case 3 -> "UPDATE f SET a = a + 1 WHERE " + oneOf("f", "b IS NOT NULL");
                    default -> "DELETE FROM f WHERE " + oneOf("f", "a > " + id());
                };
            case "ff" ->
                switch (random.nextInt(4)) {
                    case 0, 1 -> "INSERT INTO ff VALUES (" + scaled() + ", " + text() + ")";
                    case 2 -> "UPDATE ff SET b = " + text() + " WHERE n = " + scaled();
                    default -> "DELETE FROM ff WHERE " + oneOf("ff", "n > " + id());
                };
            case "tb" ->
                switch (random.nextInt(5)) {
                    case 0, 1 -> "INSERT INTO tb VALUES (" + id() + ", 1, " + big() + ") ON CONFLICT DO NOTHING";
                    case 2 -> "UPDATE tb SET a = a + 1 WHERE id < " + id();
                    case 3 -> "UPDATE tb SET big = " + big() + " WHERE id = " + id();
                    default -> random.nextBoolean() ? moveKey("tb", "id") : "DELETE FROM tb WHERE id = " + id();
                };
            case "tf" ->
                switch (random.nextInt(5)) {
                    case 0, 1 -> "INSERT INTO tf VALUES (" + id() + ", " + big() + ", " + id() + ")";
                    case 2 -> "UPDATE tf SET a = a + 1 WHERE c = " + id();
                    case 3 -> "UPDATE tf SET big = " + big() + " WHERE a = " + id();
                    default -> "DELETE FROM tf WHERE " + oneOf("tf", "a > " + id());
                };
            default ->
                switch (random.nextInt(4)) {
                    case 0, 1 -> "INSERT INTO pt VALUES (" + id() + ", " + text() + ") ON CONFLICT DO NOTHING";
                    case 2 -> random.nextBoolean() ? moveKey("pt", "id") : "UPDATE pt SET v = " + text();
                    default -> "DELETE FROM pt WHERE id > " + id();
                };
        };
    }

    private String moveKey(String table, String key) {
        int to = id();
        return "UPDATE " + table + " SET " + key + " = " + to + " WHERE " + key + " = " + id()
                + " AND NOT EXISTS (SELECT FROM " + table + " o WHERE o." + key + " = " + to + ")";
    }
}
