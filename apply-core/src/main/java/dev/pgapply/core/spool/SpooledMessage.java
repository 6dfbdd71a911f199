package dev.pgapply.core.spool;

/**
 * One message of a .changes file, to be decoded as one of a stream block.
 *
 * @param buffer shared with the messages around it; nobody writes to it any more, so that tuples may keep it
 * @param offset where the message's type byte stands
 * @param length the message's bytes, at least one
 */
public record SpooledMessage(byte[] buffer, int offset, int length) {}
