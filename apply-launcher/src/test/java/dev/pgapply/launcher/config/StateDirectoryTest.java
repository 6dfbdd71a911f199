package dev.pgapply.launcher.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateDirectoryTest {

    @TempDir
    private Path folder;

    @Test
    void what_is_missing_is_created_and_a_second_engine_is_refused_until_the_first_is_gone() {
        Path path = folder.resolve("a/b");
        try (StateDirectory first = StateDirectory.open(path)) {
            assertThat(first.path()).isEqualTo(path);
            assertThatThrownBy(() -> StateDirectory.open(path))
                    .hasMessage("the state directory \"" + path + "\" is in use by another engine (process "
                            + ProcessHandle.current().pid() + ")");
        }

        try (StateDirectory again = StateDirectory.open(path)) {
            assertThat(again.path()).isDirectory();
        }
    }

    @Test
    void a_path_that_is_no_directory_is_refused() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");

        assertThatThrownBy(() -> StateDirectory.open(file)).hasMessageContaining("cannot be used");
    }

    @Test
    void a_subscriptions_folder_encodes_all_but_plain_characters() {
        assertThat(StateDirectory.folderName("Orders_2-x")).isEqualTo("Orders_2-x");
        assertThat(StateDirectory.folderName("../a b/é.%")).isEqualTo("%2E%2E%2Fa%20b%2F%C3%A9%2E%25");
        try (StateDirectory state = StateDirectory.open(folder)) {
            assertThat(state.folder("a/b")).isDirectory().isEqualTo(folder.resolve("a%2Fb"));
        }
    }

    @Test
    void the_default_is_the_systems_if_it_can_be_written_else_the_users() {
        Path home = Path.of("/home/ann");
        Path unwritable = Path.of("/nonexistent/pgapply");

        assertThat(StateDirectory.defaultPath(Map.of(), home, folder.resolve("pgapply")))
                .isEqualTo(folder.resolve("pgapply"));
        assertThat(StateDirectory.defaultPath(Map.of(), home, unwritable))
                .isEqualTo(Path.of("/home/ann/.local/state/pgapply"));
        assertThat(StateDirectory.defaultPath(Map.of("XDG_STATE_HOME", "/x"), home, unwritable))
                .isEqualTo(Path.of("/x/pgapply"));
        assertThat(StateDirectory.defaultPath(Map.of("XDG_STATE_HOME", "relative"), home, unwritable))
                .isEqualTo(Path.of("/home/ann/.local/state/pgapply"));
    }
}
