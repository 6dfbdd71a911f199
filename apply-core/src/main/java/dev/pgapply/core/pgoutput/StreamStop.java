package dev.pgapply.core.pgoutput;

/** Ends a stream block. */
public record StreamStop() implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.STREAM_STOP;
    }
}
