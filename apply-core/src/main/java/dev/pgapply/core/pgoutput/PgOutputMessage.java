package dev.pgapply.core.pgoutput;

/**
 * One message of pgoutput. Dispatch by {@link #type()} with a switch expression without default: a new message then does not
 * compile until it is handled.
 */
public sealed interface PgOutputMessage
        permits Begin,
                Commit,
                Origin,
                Insert,
                Update,
                Delete,
                Truncate,
                Relation,
                Type,
                LogicalMessage,
                BeginPrepare,
                Prepare,
                CommitPrepared,
                RollbackPrepared,
                StreamStart,
                StreamStop,
                StreamCommit,
                StreamAbort,
                StreamPrepare {

    MessageType type();
}
