/** The longest frame header: two bytes, eight of length, four of mask. */
const HEADER_BYTES = 14;
const OPCODE_CLOSE = 0x8;

/**
 * Where the frames of one direction of a WebSocket begin and end (RFC 6455, 5.2), so that a frame can be put between
 * two of them. Keeps a header at most, never a payload.
 */
export class Frames {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #have = 0;
  #payload = 0;
  #closing = false;

  /** Between two frames. */
  get between(): boolean {
    return this.#have === 0 && this.#payload === 0;
  }

  /** A close frame has begun: no frame may follow it. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Goes on from `at` to the end of the frame there, or of the chunk; answers where that is. */
  walk(chunk: Buffer, at: number): number {
    let place = at;
    while (place < chunk.length) {
      if (this.#payload > 0) {
        const step = Math.min(this.#payload, chunk.length - place);
        this.#payload -= step;
        place += step;
      } else {
        this.#header[this.#have++] = chunk[place++] ?? 0;
        if (this.#have < headerBytes(this.#header, this.#have)) continue;
        this.#payload = payloadBytes(this.#header);
        this.#closing ||= ((this.#header[0] ?? 0) & 0x0f) === OPCODE_CLOSE;
        this.#have = 0;
      }
      if (this.#payload === 0) return place;
    }
    return place;
  }
}

const lengthCode = (header: Buffer): number => (header[1] ?? 0) & 0x7f;

function headerBytes(header: Buffer, have: number): number {
  if (have < 2) return 2;
  const code = lengthCode(header);
  const masked = ((header[1] ?? 0) & 0x80) !== 0;
  return 2 + (code === 126 ? 2 : code === 127 ? 8 : 0) + (masked ? 4 : 0);
}

function payloadBytes(header: Buffer): number {
  const code = lengthCode(header);
  if (code === 126) return header.readUInt16BE(2);
  return code === 127 ? Number(header.readBigUInt64BE(2)) : code;
}

const REASON = Buffer.from('the service is being replaced');

/** A server's close frame 1001, "going away". */
export const GOING_AWAY = Buffer.concat([Buffer.from([0x88, 2 + REASON.length, 0x03, 0xe9]), REASON]);
