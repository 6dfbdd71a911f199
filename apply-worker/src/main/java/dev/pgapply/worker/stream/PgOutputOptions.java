package dev.pgapply.worker.stream;

import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.Identifiers;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The option list of START_REPLICATION, in the order it is sent (pgoutput.c, parse_output_parameters; SEMANTICS 2.1). Immutable.
 *
 * @param values each option's name and value; a value is quoted only when it is sent
 */
public record PgOutputOptions(Map<String, String> values) {

    private static final int BINARY_SINCE = 140000;
    private static final int ORIGIN_SINCE = 160000;

    public PgOutputOptions {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /**
     * What a publisher of that version is asked for.
     *
     * @param serverVersionNum the publisher's {@code server_version_num}
     * @param publications names as in the publisher's catalog
     * @param binary whether values shall come in binary where a type can
     * @param streaming whether transactions are sent before they commit; less where the publisher cannot
     */
    public static PgOutputOptions forPublisher(
            int serverVersionNum,
            List<String> publications,
            boolean binary,
            StreamingMode streaming,
            SubscriptionOptions.Origin origin) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("proto_version", Integer.toString(protocolVersion(serverVersionNum)));
        // Quoted, because the publisher folds and splits what is not (varlena.c, SplitIdentifierString).
        values.put(
                "publication_names",
                publications.stream().map(Identifiers::quote).collect(Collectors.joining(",")));
        if (binary && serverVersionNum >= BINARY_SINCE) {
            values.put("binary", "true");
        }
        StreamingMode offered = streaming.offeredBy(serverVersionNum);
        if (offered != StreamingMode.OFF) {
            values.put("streaming", offered == StreamingMode.PARALLEL ? "parallel" : "on");
        }
        // "any" is the default of those that know the option.
        if (origin == SubscriptionOptions.Origin.NONE && serverVersionNum >= ORIGIN_SINCE) {
            values.put("origin", "none");
        }
        return new PgOutputOptions(values);
    }

    /** The same, asking for prepared transactions as such: for publishers from 15 on. */
    public PgOutputOptions withTwoPhase() {
        Map<String, String> more = new LinkedHashMap<>(values);
        more.put("two_phase", "on");
        return new PgOutputOptions(more);
    }

    /** logicalproto.h: 2 came with 14, 3 with 15, 4 with 16. */
    static int protocolVersion(int serverVersionNum) {
        if (serverVersionNum >= 160000) {
            return 4;
        }
        if (serverVersionNum >= 150000) {
            return 3;
        }
        return serverVersionNum >= 140000 ? 2 : 1;
    }

    /** {@code (name 'value', …)}. */
    String toOptionList() {
        return values.entrySet().stream()
                .map(option -> option.getKey() + " '" + option.getValue().replace("'", "''") + "'")
                .collect(Collectors.joining(", ", "(", ")"));
    }
}
