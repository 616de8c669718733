import { describe, expect, it } from "vitest";

import { EventParser, readEvents, type StreamEvent } from "../src/api/event_stream";

describe("EventParser", () => {
  it("gives the same events however the bytes are cut", () => {
    const text =
      'id: 1\r\ndata: {"a": 1}\r\n\r\n: comment\n\nevent: end\rdata: x\ndata: y\n\nid: 2\nretry: 5\ndata:z\n\n';
    const expected = [
      { id: "1", event: "message", data: '{"a": 1}' },
      { id: "1", event: "end", data: "x\ny" },
      { id: "2", event: "message", data: "z" },
    ];
    for (let size = 1; size <= text.length; ++size) {
      const parser = new EventParser();
      const events: StreamEvent[] = [];
      for (let at = 0; at < text.length; at += size) {
        events.push(...parser.push(text.slice(at, at + size)));
      }
      expect(events, `pieces of ${size}`).toEqual(expected);
    }
  });

  it("keeps an event back until its empty line has come", () => {
    const parser = new EventParser();
    expect(parser.push("data: half")).toEqual([]);
    expect(parser.push("\n")).toEqual([]);
    expect(parser.push("\n")).toHaveLength(1);
  });

  it("says nothing for an event without data", () => {
    expect(new EventParser().push("event: end\n\n")).toEqual([]);
  });

  it("does not grow without bound on a line that never ends", () => {
    const parser = new EventParser();
    for (let count = 0; count < 20; ++count) {
      parser.push("x".repeat(200_000));
    }
    expect(parser.push("\ndata: after\n\n").map((event) => event.data)).toEqual(["after"]);
  });
});

describe("readEvents", () => {
  it("joins characters that were cut between pieces", async () => {
    const bytes = new TextEncoder().encode("data: 🚲\n\n");
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        bytes.forEach((byte) => controller.enqueue(Uint8Array.of(byte)));
        controller.close();
      },
    });
    const events: StreamEvent[] = [];
    await readEvents(stream, (some) => events.push(...some));
    expect(events.map((event) => event.data)).toEqual(["🚲"]);
  });
});
