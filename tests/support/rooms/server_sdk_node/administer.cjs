// Runs the room of a token by the public server SDK as it is published: `node administer.cjs <modules> <url> <token>
// <room> <method> <arguments as JSON>`. Writes what came of it as JSON.
const [, , modules, url, token, room, method, given] = process.argv;
const { RoomServiceClient } = require(`${modules}/@api.stream/livekit-server-sdk`);
const client = new RoomServiceClient(url, undefined, undefined, token);
client[method](room, ...JSON.parse(given)).then(
  (value) => console.log(JSON.stringify({ value: value ?? null })),
  (error) => console.log(JSON.stringify({ status: error.response?.status ?? 0, error: error.response?.data ?? `${error}` })),
);
