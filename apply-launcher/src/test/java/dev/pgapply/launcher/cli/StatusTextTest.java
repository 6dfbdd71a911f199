package dev.pgapply.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class StatusTextTest {

    private static String text(String json) throws JsonProcessingException {
        return StatusText.one(new ObjectMapper().readTree(json));
    }

    @Test
    void a_copy_has_a_bar_and_a_line_for_each_table_under_way() throws JsonProcessingException {
        String text = text("""
                {"name": "orders", "status": "copying", "copy": {"tables_copied": 3, "tables": 5, "rows_copied": 1000,
                 "rows_estimated": 4000, "bytes_copied": 10240, "bytes_estimated": 40960, "fraction": 0.25, "bytes_per_second": 5120,
                 "remaining_seconds": 6, "under_way": [{"schema": "public", "table": "t", "rows_copied": 400, "rows_estimated": null,
                 "bytes_copied": 512, "bytes_estimated": null, "bytes_per_second": 256, "remaining_seconds": null}]}}
                """);

        assertThat(text)
                .contains(
                        "  [#####...............] 25 %, 3 of 5 tables, 1,000 of about 4,000 rows, 10.0 kB of about 40.0 kB, 5.0 kB/s,"
                                + " about 6.0 s left\n",
                        "  copying public.t: 400 rows, 512 B, 256 B/s, remaining time unknown\n");
    }

    @Test
    void every_transaction_that_a_slot_waits_for_has_a_line() throws JsonProcessingException {
        String text = text("""
                {"name": "orders", "status": "waiting_for_slot", "copy": null, "slot_wait": {"phase": "BUILDING_SNAPSHOT",
                 "waited_for": 2, "transactions": [
                 {"xid": 731, "pid": 4711, "gid": null, "user": "app", "database": "shop", "age_seconds": 90, "query": "UPDATE t"},
                 {"xid": 732, "pid": null, "gid": "g", "user": null, "database": null, "age_seconds": null, "query": null}]}}
                """);

        assertThat(text)
                .contains(
                        "  waits for pid 4711, user \"app\", database \"shop\", open for 1 min 30 s, query: UPDATE t\n",
                        "  waits for prepared transaction \"g\"\n");
    }

    @Test
    void a_wait_for_a_tables_own_slot_names_the_table() throws JsonProcessingException {
        String text = text("""
                {"name": "orders", "status": "streaming", "copy": null, "slot_wait": {"table": "public.t", "phase": "FULL_SNAPSHOT",
                 "waited_for": 1, "transactions": [{"pid": 4711}]}}
                """);

        assertThat(text).contains("  public.t waits for pid 4711\n");
    }
}
