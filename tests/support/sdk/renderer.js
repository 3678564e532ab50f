// Makes the calls of the public renderer's page in its order, with the unmodified SDK and the end points that it has
// built in, joins the room by LiveKit's own client (`LivekitClient`, which its script brings), and shows each connected
// source as that page does: by its camera and its microphone.
const { ApiStream } = require("@api.stream/sdk");

const ENGINE = "ws://127.0.0.1:8000";
const report = { steps: [], events: [], ended: [], shown: [], participants: {}, failed: null };
const tell = () => fetch("/report", { method: "POST", body: JSON.stringify(report) });

function did(step, seen = true) {
  report.steps.push(step);
  report[step] = seen;
  return tell();
}

async function renderer() {
  const sdk = new ApiStream({ env: "stage", logLevel: "Error" });
  const guest = await sdk.load(); // RefreshAccessToken, by the token of the address
  await did("refreshed", guest);
  const { collectionId, projectId } = guest;
  const live = sdk.LiveApi(), layouts = sdk.LayoutApi();

  const { project } = await live.project.getProject({ collectionId, projectId });
  await did("project", project);
  const { layoutId } = project.metadata;
  await did("layers", (await layouts.layer.listLayers({ layoutId })).layers);
  await layouts.subscribeToLayout(layoutId);
  await live.subscribeToProject(collectionId, projectId);
  await live.subscribeToCollection(collectionId);
  layouts.on("EVENT_TYPE_LAYER", (payload, subType) => {
    report.events.push({ payload, subType });
    tell();
  });
  await did("subscribed");
  await did("status", (await live.project.getProject({ collectionId, projectId, status: true })).status);

  const engine = new WebSocket(ENGINE);
  engine.onmessage = ({ data }) => heard(JSON.parse(data)).catch(failed);
  await did("engine");

  const { webrtcAccess } = await live.authentication.createWebRtcAccessToken({ collectionId, projectId, displayName: "Guest" });
  const room = new LivekitClient.Room();
  room.on("trackSubscribed", (track, publication, { identity }) => track.kind === "video" && seen(identity, track).catch(failed));
  await room.connect(sdk.getLiveKitServer(), webrtcAccess.accessToken);
  await did("room", room.name);
  // As it renders
  await layouts.subscribeToLayout(layoutId);
  await did("rendered");
}

/** Tells the colour of a participant's first picture. */
async function seen(identity, track) {
  const video = track.attach();
  await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.drawImage(video, 0, 0, 1, 1);
  report.participants[identity] = [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  await tell();
}

async function heard({ name, payload }) {
  if (name === "state") for (const { id, connected } of payload.sources) if (connected) await show(id);
  if (name === "source.connect") await show(payload.id);
}

async function show(id) {
  const devices = await navigator.mediaDevices.enumerateDevices();
  const found = (kind, label) => devices.find((each) => each.kind === kind && each.label === label).deviceId;
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { deviceId: found("videoinput", id), width: 999999, height: 999999 },
    audio: { deviceId: found("audioinput", `Monitor of ${id}`), channelCount: 2, autoGainControl: false, echoCancellation: false, noiseSuppression: false },
  });
  for (const track of stream.getTracks()) {
    track.addEventListener("ended", () => {
      report.ended.push(track.kind);
      tell();
    });
  }
  const video = Object.assign(document.createElement("video"), { autoplay: true, srcObject: stream });
  document.body.replaceChildren(video);
  await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  report.shown.push(id);
  await tell();
}

function failed(error) {
  report.failed = String(error?.stack ?? error);
  return tell();
}

renderer().catch(failed);
