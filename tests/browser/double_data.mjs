// What the double of the server answers with, in the forms of docs/reference/http.md.
const characters = (text) => Array.from(text).length;

function span(text, part, score) {
  const at = text.indexOf(part);
  if (at < 0) {
    throw new Error(`the span is not in the text: ${part}`);
  }
  const start = characters(text.slice(0, at));
  return { text: part, start, end: start + characters(part), score };
}

function answer(id, score, title, headings, text, part, retrievals, url = "") {
  const names = ["document", "headings", "chunks", "bm25"];
  return {
    id,
    passage_id: `${id}#0`,
    score,
    title,
    headings,
    text,
    url,
    metadata: {},
    span: part ? span(text, part, score) : null,
    retrievals: Object.fromEntries(
      names.map((name, index) => [
        name,
        { score: retrievals[index][0], rank: retrievals[index][1] },
      ]),
    ),
  };
}

const returning =
  "🚲 A bicycle can be returned at every station of the city, not only at the one where the ride began. " +
  "Push the frame into a free dock until the light turns green; the ride ends at that moment. When " +
  "every dock of a station is taken, the app – or the café beside the station – adds fifteen minutes " +
  "without charge, so that you can return the bicycle at the next station with a free dock.\n" +
  "A ride that was not ended is charged until the bicycle is found, at most for one day.";

const damage =
  "Report a damaged bicycle before you return it: the button with the spanner takes it out of " +
  "service, and the next rider is not given it. Nobody is charged for wear. A bent wheel or a lost " +
  "saddle is looked at by the workshop first.";

const winter =
  "Between December and February the stations above 900 metres are closed. Bicycles can be taken " +
  "from the lower stations as usual; a return at a closed station is not possible.";

export const answers = [
  answer(
    "rides/ending.html",
    0.9134,
    "Ending a ride",
    ["Ending a ride", "Returning a bicycle", "When the station is full"],
    returning,
    "the app – or the café beside the station – adds fifteen minutes without charge",
    [
      [0.7412, 1],
      [0.5523, 2],
      [0.7804, 1],
      [1, 1],
    ],
    "https://docs.example.org/rides/ending.html#full",
  ),
  answer("rides/damage.html", 0.5421, "Damage", ["Damage"], damage, "Report a damaged bicycle", [
    [0.4311, 4],
    [0.3102, 7],
    [0.4605, 3],
    [0.4127, 3],
  ]),
  answer("season.md", 0.4018, "Seasons and closed stations", [], winter, null, [
    [0.3822, 6],
    [0.2145, null],
    [0.3901, 5],
    [0.3316, 4],
  ]),
];

export const collections = [
  {
    name: "handbook",
    settings: {
      model: "minilm@1",
      language: "en",
      pipeline: "blend",
      chunking: { tokens: 200, overlap: 40 },
    },
    rows: 1412,
    deleted_rows: 12,
    segments: 3,
    tail_rows: 20,
    log_bytes: 40_960,
    disk_bytes: 9_437_184,
    sequence: 1480,
    switching: null,
  },
  {
    name: "notes",
    settings: { model: "", language: "en", pipeline: "blend", chunking: "off" },
    rows: 37,
    deleted_rows: 0,
    segments: 1,
    tail_rows: 0,
    log_bytes: 0,
    disk_bytes: 81_920,
    sequence: 37,
    switching: null,
  },
];

function model(name, version, kind, dimension, size, isDefault, created) {
  return {
    id: isDefault ? name : `${name}@${version}`,
    object: "model",
    created,
    owned_by: "sibyl",
    name,
    version,
    dimension,
    kind,
    bytes: size,
    default: isDefault,
  };
}

export const models = [
  model("handbook", "2", "transformer", 384, 90_868_376, false, 1_780_000_000),
  model("minilm", "1", "transformer", 384, 90_868_376, true, 1_779_000_000),
  model("words", "1", "static", 256, 12_402_688, false, 1_778_000_000),
];

export const provenance = {
  handbook: {
    base: "minilm",
    created: "2026-05-28T19:46:40Z",
    metrics: { validation: { ndcg_at_10: 0.6713, precision_at_1: 0.5812 } },
    trained_on: { passages: 1412, structural_pairs: 2830, questions_held_out: 141 },
    parameters: { stages: "cold", cold_epochs: 1, cold_learning_rate: 0.00003, seed: 1 },
    pipelines: { blend: "3.2*document + 1.1*headings + 0.6*chunks + 1*bm25" },
  },
};

export const jobs = [
  {
    id: "handbook-20260601-101500-7c1e",
    name: "handbook",
    kind: "coldstart",
    state: "running",
    step: "train",
    error: "",
    model: "",
    created: new Date(Date.now() - 95_000).toISOString(),
    ended: null,
  },
  {
    id: "handbook-20260528-194000-91ab",
    name: "handbook",
    kind: "supervised",
    state: "done",
    step: "publish",
    error: "",
    model: "handbook@2",
    created: "2026-05-28T19:40:00Z",
    ended: "2026-05-28T19:46:40Z",
  },
  {
    id: "words-20260520-080000-0042",
    name: "words",
    kind: "supervised",
    state: "failed",
    step: "prepare",
    error: 'data.pairs line 17: answer_id "faq-900" is not a document of the collection',
    model: "",
    created: "2026-05-20T08:00:00Z",
    ended: "2026-05-20T08:00:03Z",
  },
];

const plan = [
  ["stages", "cold", "no labelled pairs were given"],
  ["cold_epochs", 1, "2,830 structural pairs: one pass is enough"],
  ["cold_learning_rate", 0.00003, "fits transformers of 6 layers"],
  ["batch_passages", 64, "the memory of this machine holds 64 passages of 128 tokens"],
  ["passage_tokens_max", 128, "95 % of the passages are shorter"],
  ["seed", 1, "default"],
].map(([name, value, reason]) => ({ name, value, reason }));

export const trainSteps = 60;

export function trainProgress(done) {
  return {
    step: "train",
    event: "progress",
    stage: "cold",
    done,
    total: trainSteps,
    unit: "steps",
    rate: 1.9,
    left_s: (trainSteps - done) / 1.9,
    loss: 0.35 + 2.1 * Math.exp(-done / 14) + 0.06 * Math.sin(done * 1.7),
    epoch: 1,
  };
}

export const failedEvents = [
  { time: "2026-05-20T08:00:00Z", step: "prepare", event: "start" },
  {
    time: "2026-05-20T08:00:03Z",
    step: "prepare",
    event: "end",
    status: 65,
    seconds: 2.6,
    error: jobs[2].error,
  },
];

/** Event lines as events.jsonl holds them, up to `done` steps of training; `ended`: to the end. */
export function eventsUntil(done, ended = false) {
  const events = [
    { step: "prepare", event: "start" },
    {
      step: "prepare",
      event: "note",
      text: "1,412 documents, 2,830 structural pairs, 141 questions held out",
    },
    { step: "prepare", event: "plan", parameters: plan },
    { step: "prepare", event: "end", status: 0, seconds: 3.2 },
    { step: "train", event: "start" },
    {
      step: "train",
      event: "device",
      text: "device: cpu (8 threads, AVX2): no NVIDIA device on this machine",
    },
    { step: "train", event: "metric", name: "ndcg_at_10", value: 0.578, epoch: 0, best: 0.578 },
  ];
  for (let step = 1; step <= done; ++step) {
    events.push(trainProgress(step));
    if (step % 20 === 0) {
      const value = 0.578 + 0.09 * (1 - Math.exp(-step / 25));
      events.push({
        step: "train",
        event: "metric",
        name: "ndcg_at_10",
        value,
        epoch: step / 20,
        best: value,
      });
    }
  }
  if (ended) {
    events.push({ step: "train", event: "end", status: 0, seconds: 341 });
    for (const [name, value] of [
      ["untrained bm25 nDCG@10", 0.561],
      ["untrained document nDCG@10", 0.578],
      ["trained document nDCG@10", 0.66],
      ["trained blend nDCG@10", 0.702],
    ]) {
      events.push({ step: "evaluate", event: "metric", name, value });
    }
    for (const step of ["evaluate", "publish"]) {
      events.push(
        { step, event: "start" },
        { step, event: "end", status: 0, seconds: step === "publish" ? 0.4 : 38 },
      );
    }
  }
  return events.map((event, index) => ({
    time: new Date(Date.UTC(2026, 5, 1, 10, 15, index)).toISOString(),
    ...event,
  }));
}

export const log =
  "prepare: 1,412 documents of handbook\nprepare: 2,830 structural pairs\n" +
  "train: device: cpu (8 threads, AVX2): no NVIDIA device on this machine\n";
