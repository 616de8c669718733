/** One server-sent event, as https://html.spec.whatwg.org/#event-stream-interpretation reads it. */
export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** A line longer than this is given up: no event of ours comes near it. */
const kLineLengthMax = 1 << 20;

/**
 * Reads server-sent events from pieces of text. The browser's EventSource cannot carry an API key,
 * so the page reads the stream itself.
 */
export class EventParser {
  private rest = "";
  private data: string[] = [];
  private event = "";
  private id = "";

  /** The events that `piece` completes. */
  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    this.rest += piece;
    for (;;) {
      // A carriage return at the end may be the first half of a line end.
      const end = this.rest.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) {
        if (this.rest.length > kLineLengthMax) {
          this.rest = "";
        }
        return events;
      }
      const line = this.rest.slice(0, end);
      const width = this.rest.startsWith("\r\n", end) ? 2 : 1;
      this.rest = this.rest.slice(end + width);
      this.take(line, events);
    }
  }

  private take(line: string, events: StreamEvent[]): void {
    if (line === "") {
      if (this.data.length > 0) {
        events.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
      }
      this.data = [];
      this.event = "";
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      this.data.push(value);
    } else if (name === "event") {
      this.event = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.id = value;
    }
  }
}

/** Hands every event of the stream on; ends when the stream does. */
export async function readEvents(
  stream: ReadableStream<Uint8Array>,
  onEvents: (events: StreamEvent[]) => void,
): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const events = parser.push(decoder.decode(value, { stream: !done }));
      if (events.length > 0) {
        onEvents(events);
      }
      if (done) {
        return;
      }
    }
  } finally {
    reader.releaseLock();
  }
}
