package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.subscription.ConnectionUrl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.Driver;

class PasswordFileTest {

    /** The driver's own name for PGPASSFILE. */
    private static final String PROPERTY = "org.postgresql.pgpassfile";

    private static @Nullable String find(String url) {
        return PasswordFile.find(ConnectionUrl.parse(url, null, "me"));
    }

    @BeforeEach
    void a_password_file(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("pgpass"), """
                # a comment
                db2:5433:shop:repl:of\\:db2\\\\
                \\:\\:1:*:*:me:of v6
                db3:*:*:repl:of db3
                """);
        System.setProperty(PROPERTY, file.toString());
    }

    @AfterEach
    void as_it_was() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void the_first_host_with_a_line_gives_the_password() {
        assertThat(find("postgresql://repl@db1,db2:5433,db3/shop")).isEqualTo("of:db2\\");
        assertThat(find("postgresql://repl@db1,db2:5434,db3/shop")).isEqualTo("of db3");
        assertThat(find("postgresql://repl@db1,db4/shop")).isNull();
        assertThat(find("postgresql://ann@db3/shop")).isNull();
    }

    @Test
    void an_ipv6_address_is_looked_up_without_its_brackets() {
        assertThat(find("postgresql://[::1]:9999/any")).isEqualTo("of v6");
    }

    @Test
    void one_host_is_found_by_the_driver_itself() {
        ConnectionUrl url = ConnectionUrl.parse("postgresql://repl@db2:5433/shop", null, "me");
        Properties properties = new Properties();
        properties.putAll(url.properties());

        assertThat(Driver.parseURL(url.jdbcUrl(), properties)).containsEntry("password", "of:db2\\");
    }
}
