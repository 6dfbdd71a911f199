package dev.pgapply.worker.jdbc;

import dev.pgapply.core.ApplyException;
import dev.pgapply.worker.jdbc.ExactStatements.Value;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Names the column whose value a statement's error is about: the server says which parameter it could not read
 * (postgres.c, bind_param_error_callback).
 */
final class FailedValue {

    private static final Pattern PARAMETER = Pattern.compile("portal.* parameter \\$(\\d+)");

    private FailedValue() {}

    static ApplyException named(SQLException e, List<Value> values) {
        ApplyException plain = PostgresErrors.translate("", e);
        ServerErrorMessage server = e instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
        if (plain.column() != null || server == null || server.getWhere() == null) {
            return plain;
        }
        Matcher matcher = PARAMETER.matcher(server.getWhere());
        if (!matcher.find()) {
            return plain;
        }
        int index = Integer.parseInt(matcher.group(1)) - 1;
        if (index < 0 || index >= values.size()) {
            return plain;
        }
        String column = values.get(index).column().local().name();
        return new ApplyException(plain.kind(), plain.getMessage(), plain.hint(), plain.sqlState(), column, e);
    }
}
