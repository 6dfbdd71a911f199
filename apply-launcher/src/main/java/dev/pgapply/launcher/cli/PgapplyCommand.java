package dev.pgapply.launcher.cli;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.launcher.console.Logging;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/**
 * A command: does its work and gives an exit code (0 done, 1 failed, 2 wrong usage or configuration). A failure is told on stderr in
 * one sentence and a hint.
 */
abstract class PgapplyCommand implements Callable<Integer> {

    static final int DONE = 0;
    static final int FAILED = 1;
    static final int WRONG_USAGE = 2;

    private final CommandContext context;

    @Mixin
    private CommonOptions common = new CommonOptions();

    PgapplyCommand(CommandContext context) {
        this.context = context;
    }

    CommandContext context() {
        return context;
    }

    CommonOptions common() {
        return common;
    }

    @Override
    public final Integer call() {
        Logging.configure(common.level(), common.format(), context.terminal());
        try {
            return execute();
        } catch (ApplyException e) {
            tell(e.getMessage(), e.hint(), e);
            return e.kind() == Kind.CONFIGURATION ? WRONG_USAGE : FAILED;
        } catch (RuntimeException e) {
            tell("unexpected failure: " + e, "run it again with --log-level debug and report what it prints", e);
            return FAILED;
        }
    }

    abstract int execute();

    private void tell(String message, @Nullable String hint, Throwable failure) {
        context.terminal().print(ErrorText.of(message, hint, common.json()));
        if (common.isDebug()) {
            context.terminal().print(ErrorText.trace(failure));
        }
    }

    void print(String line) {
        context.out().println(line);
        context.out().flush();
    }
}
