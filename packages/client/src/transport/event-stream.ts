/** One message of a server-sent event stream (WHATWG HTML, section 9.2.6). */
export interface StreamMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Longest message that is kept while its end has not come. */
const MESSAGE_LIMIT_CHARACTERS = 1024 * 1024;

/** Takes an event stream apart, whatever the chunks' borders. Comments and unknown fields are skipped. */
export class EventStreamParser {
  #rest = '';

  /** The messages that `chunk` completes, in order. Throws `RangeError` for an endless message. */
  push(chunk: string): StreamMessage[] {
    this.#rest = (this.#rest + chunk).replaceAll('\r\n', '\n');
    const blocks = this.#rest.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    if (this.#rest.length > MESSAGE_LIMIT_CHARACTERS) throw new RangeError('an event is longer than its limit');
    return blocks.flatMap((block) => {
      const message = parseBlock(block);
      return message === null ? [] : [message];
    });
  }
}

function parseBlock(block: string): StreamMessage | null {
  const data: string[] = [];
  let id: string | null = null;
  let event = 'message';
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}
