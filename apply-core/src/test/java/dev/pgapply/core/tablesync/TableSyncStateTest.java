package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableSyncStateTest {

    @ParameterizedTest
    @CsvSource({"i, idr", "d, idfs", "f, dfs", "s, idsr", "r, idr"})
    void only_these_moves_are_legal(char from, String to) {
        String legal = Arrays.stream(TableSyncState.values())
                .filter(TableSyncState.of(from)::mayBecome)
                .map(state -> String.valueOf(state.code()))
                .collect(Collectors.joining());

        assertThat(legal).isEqualTo(to);
    }
}
