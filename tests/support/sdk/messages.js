// Says what the public SDK makes of messages: reads lines of {type, module, bytes}, and writes for each the fields that
// it found and what it sends for them; null where it knows no such type.
const modules = {
  live: require("@api.stream/sdk/lib/liveapi/proto/ts/live/v21/api"),
  layout: require("@api.stream/protocol-layout-api/dist/proto/apis/layout/v2/api"),
  event: require("@api.stream/protocol-event-api/dist/proto/apis/event/v2/api"),
};

function understood({ module, type, bytes }) {
  const known = modules[module][type];
  if (!known) return null;
  const message = known.decode(Buffer.from(bytes, "base64"));
  return { fields: known.toJSON(message), sent: Buffer.from(known.encode(message).finish()).toString("base64") };
}

const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
process.stdout.write(JSON.stringify(lines.map(line => understood(JSON.parse(line)))));
