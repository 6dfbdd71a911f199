package dev.pgapply.core.subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionUrlTest {

    private static ConnectionUrl parse(String url) {
        return parse(url, null);
    }

    private static ConnectionUrl parse(String url, @Nullable String password) {
        return ConnectionUrl.parse(url, password, "osuser");
    }

    @Test
    void a_complete_uri_is_translated() {
        ConnectionUrl url = parse("postgresql://repl:secret@db1:5433/shop?sslmode=verify-full&application_name=x");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://db1:5433/shop");
        assertThat(url.properties())
                .isEqualTo(
                        Map.of("user", "repl", "password", "secret", "sslmode", "verify-full", "ApplicationName", "x"));
        assertThat(url.display()).isEqualTo("postgresql://repl@db1:5433/shop");
    }

    @Test
    void what_is_left_out_is_the_os_user_port_5432_and_the_users_database() {
        ConnectionUrl url = parse("postgres://");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://localhost:5432/osuser");
        assertThat(url.properties()).isEqualTo(Map.of("user", "osuser"));
    }

    @Test
    void the_database_is_the_users_where_only_a_user_is_named() {
        assertThat(parse("postgresql://ann@db1").jdbcUrl()).isEqualTo("jdbc:postgresql://db1:5432/ann");
        assertThat(parse("postgresql://ann@db1/?connect_timeout=3").jdbcUrl())
                .isEqualTo("jdbc:postgresql://db1:5432/ann");
    }

    @Test
    void several_hosts_keep_their_ports_and_ipv6_addresses_their_brackets() {
        ConnectionUrl url = parse("postgresql://u@db1,[::1]:5433,db3:6432/d?target_session_attrs=read-write");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://db1:5432,[::1]:5433,db3:6432/d");
        assertThat(url.authority()).isEqualTo("db1:5432,[::1]:5433,db3:6432");
        assertThat(url.properties()).containsEntry("targetServerType", "primary");
    }

    @Test
    void every_part_is_percent_decoded() {
        ConnectionUrl url = parse("postgresql://a%40b:p%2Fq@db%2D1/my%20d%C3%A9?options=-c%20geqo%3Doff");

        assertThat(url.properties()).isEqualTo(Map.of("user", "a@b", "password", "p/q", "options", "-c geqo=off"));
        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://db-1:5432/my%20d%C3%A9");
        assertThat(url.display()).isEqualTo("postgresql://a@b@db-1:5432/my dé");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:b", "a/b", "a@b", "a%b", "a'b", "a\\b", "a b", ":/@%'\\ ", "pü€", "+", "a%41", "?&=#"})
    void an_odd_password_goes_to_the_driver_as_it_is_however_it_is_given(String password) {
        ConnectionUrl byKey = parse("postgresql://u@h/d", password);
        ConnectionUrl byUri = parse("postgresql://u:" + PercentEncoding.encode(password) + "@h/d");
        ConnectionUrl byJdbc = parse("jdbc:postgresql://h/d?user=u&password=" + PercentEncoding.encode(password));

        assertThat(byKey.properties()).containsEntry("password", password);
        assertThat(byUri.properties()).containsEntry("password", password);
        assertThat(byJdbc.properties()).containsEntry("password", password);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:b", "a'b", "a\\b", "a b", "a?b", "a+b"})
    void what_libpq_takes_without_encoding_is_taken(String password) {
        assertThat(parse("postgresql://u:" + password + "@h/d").properties()).containsEntry("password", password);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://u:hush/hush@h/d",
                "postgresql://u:12/hush@h/d",
                "postgresql://u:hu@sh@h/d",
                "postgresql://u:hush%zz@h/d",
                "postgresql://u:hush@h:99999/d",
                "postgresql://u:hush@h/d?password=hush",
                "postgresql://u:hush@h/d?sslmode=hush1",
                "jdbc:postgresql://u:hush@h/d",
                "mysql://u:hush@h/d",
                "u:hush@h/d",
                "postgresql://u:hush@/tmp/hush@h/d",
                "postgresql://u:hush@%2Ftmp/d"
            })
    void no_message_shows_a_password(String text) {
        assertThatThrownBy(() -> parse(text)).isInstanceOfSatisfying(ApplyException.class, e -> {
            assertThat(e.kind()).isEqualTo(ApplyException.Kind.CONFIGURATION);
            assertThat(e.getMessage() + e.hint())
                    .doesNotContain("hush@", "hush/", "hush%", ":hush", "/hush", "sh@h")
                    .isNotBlank();
        });
    }

    @Test
    void neither_display_nor_text_shows_a_password() {
        ConnectionUrl uri = parse("postgresql://u:hush@h/d");
        ConnectionUrl jdbc = parse("jdbc:postgresql://h/d?user=u&password=hush&sslpassword=hush");

        assertThat(uri.display() + uri + uri.jdbcUrl() + jdbc.display() + jdbc + jdbc.jdbcUrl())
                .doesNotContain("hush");
    }

    @Test
    void the_configured_password_wins_over_the_urls() {
        assertThat(parse("postgresql://u:one@h/d", "two").properties()).containsEntry("password", "two");
        assertThat(parse("jdbc:postgresql://h/d?password=one", "two").properties())
                .containsEntry("password", "two");
    }

    @Test
    void without_a_password_the_driver_is_left_to_read_its_password_file() {
        assertThat(parse("postgresql://u@h/d").properties()).doesNotContainKey("password");
        assertThat(parse("postgresql://u:@h/d", "").properties()).doesNotContainKey("password");
    }

    @Test
    void a_jdbc_url_keeps_its_meaning_and_loses_its_parameters_to_the_properties() {
        ConnectionUrl url =
                parse("jdbc:postgresql://h:1,i:2/d?user=u&sslmode=require&tcpKeepAlive=true&options=-c%20a=b+c");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://h:1,i:2/d");
        assertThat(url.properties())
                .isEqualTo(Map.of("user", "u", "sslmode", "require", "tcpKeepAlive", "true", "options", "-c a=b c"));
        assertThat(url.display()).isEqualTo("jdbc:postgresql://u@h:1,i:2/d");
    }

    @Test
    void a_jdbc_url_of_a_database_alone_is_taken() {
        ConnectionUrl url = parse("jdbc:postgresql:shop");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql:shop");
        assertThat(url.authority()).isEqualTo("localhost:5432");
        assertThat(url.properties()).isEqualTo(Map.of("user", "osuser"));
    }

    @ParameterizedTest
    @CsvSource({
        "sslmode=disable, sslmode, disable",
        "sslmode=allow, sslmode, allow",
        "sslmode=require, sslmode, require",
        "sslmode=require&sslrootcert=/r.crt, sslmode, verify-ca",
        "sslrootcert=/r.crt, sslrootcert, /r.crt",
        "sslrootcert=system, sslmode, verify-full",
        "sslrootcert=system, sslfactory, org.postgresql.ssl.DefaultJavaSSLFactory",
        "sslcert=/c.crt, sslcert, /c.crt",
        "sslkey=/c.pem, sslkey, /c.pem",
        "connect_timeout=5, connectTimeout, 5",
        "connect_timeout=5, loginTimeout, 5",
        "connect_timeout=0, connectTimeout, 0",
        "target_session_attrs=any, targetServerType, any",
        "target_session_attrs=standby, targetServerType, secondary",
        "target_session_attrs=read-only, targetServerType, secondary",
        "target_session_attrs=primary, targetServerType, primary",
        "target_session_attrs=prefer-standby, targetServerType, preferSecondary"
    })
    void a_parameter_becomes_the_drivers(String parameter, String property, String value) {
        assertThat(parse("postgresql://u@h/d?" + parameter).properties()).containsEntry(property, value);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "postgresql://h/d?keepalives=1 | the URL has the unknown parameter \"keepalives\"",
                "postgresql://h/d?sslmode=on | sslmode is \"on\" in the URL",
                "postgresql://h/d?connect_timeout=2s | connect_timeout is \"2s\" in the URL",
                "postgresql://h/d?target_session_attrs=master | target_session_attrs is \"master\" in the URL",
                "postgresql://h/d?options=a&options=b | the URL has the parameter \"options\" twice",
                "postgresql://h/d?options | the URL has a parameter that is not of the form key=value",
                "postgresql://h/d?sslrootcert=system&sslmode=require | sslmode \"require\" is too weak for sslrootcert=system",
                "postgresql://h:0/d | the URL has a port that is no number from 1 to 65535",
                "postgresql://[::1/d | the URL has an IPv6 address that does not end in ]",
                "postgresql://%2Fvar%2Frun/d | the URL names a Unix-domain socket, which the driver cannot use",
                "postgresql://h/d%00 | the URL's database name has the forbidden value %00",
                "postgresql://h/d%ff | the URL's database name has percent-encoded bytes that are not UTF-8",
                "mariadb://h/d | a mariadb:// URL is not supported yet",
                "http://h/d | the URL is of no known kind",
                "jdbc:postgresql://h/d?user=%4 | the URL's parameter \"user\" has a percent sign without two hexadecimal digits"
            })
    void what_is_wrong_is_named(String text, String message) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(ApplyException.class).hasMessage(message);
    }
}
