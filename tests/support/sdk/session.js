// A whole session of the unmodified public SDK: what host pages call, in their order. It reports what it got.
const { ApiStream } = require("@api.stream/sdk");

function connect(settings, more) {
  return new ApiStream({ env: "prod", logLevel: "Error", sessionId: settings.sessionId, overrideEndpoints: settings.endpoints, ...more });
}

async function refusal(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    return { code: error.code, details: error.details };
  }
}

/** Joins the room as host pages do, by LiveKit's own client (`LivekitClient`): its name, and who is in it. */
async function joined(sdk, { accessToken }) {
  const room = new LivekitClient.Room();
  try {
    await room.connect(sdk.getLiveKitServer(), accessToken);
    return { name: room.name, identity: room.localParticipant.identity, state: room.state };
  } finally {
    await room.disconnect();
  }
}

async function session(settings, made) {
  waitMs = settings.waitMs ?? waitMs;
  const report = { states: [], sourceStates: [], liveEvents: [], layerEvents: [] };
  const token = settings.token ?? (await backend(settings));
  const sdk = connect(settings);
  await sdk.load(token);
  const live = sdk.LiveApi(), layouts = sdk.LayoutApi();

  // The first look of a host's page: its collections with all that is in them
  report.none = await live.collection.getCollections({});
  const { collection } = await live.collection.createCollection({ metadata: { serviceUserId: "u", displayName: "Anna", props: {} } });
  const collectionId = collection.collectionId;
  made.cleanUp = () => live.collection.deleteCollection({ collectionId, force: true });
  const { project } = await live.project.createProject({
    collectionId,
    rendering: { video: { width: 1280, height: 720, framerate: 29.97 } },
    composition: { studioSdk: { version: "latest" } },
    webrtc: { hosted: {} },
    metadata: {},
  });
  const projectId = project.projectId;
  report.project = project;
  await live.subscribeToProject(collectionId, projectId);
  live.on("EVENT_TYPE_PROJECT", ({ state }, subType) => subType === "EVENT_SUB_TYPE_STATE" && report.states.push(state));
  live.on("EVENT_TYPE_SOURCE", ({ state }, subType) => subType === "EVENT_SUB_TYPE_STATE" && report.sourceStates.push(state));

  const layout = await layouts.layout.createLayout({ layout: { projectId, collectionId } });
  report.layout = layout;
  // The events of one's own session are kept from one, so another page looks
  const watcher = connect({ ...settings, sessionId: `${settings.sessionId}-watcher` });
  await watcher.load(token);
  await watcher.LayoutApi().subscribeToLayout(layout.id);
  watcher.LayoutApi().on("EVENT_TYPE_LAYER", (payload, subType) => report.layerEvents.push({ payload, subType }));
  await watcher.LiveApi().subscribeToProject(collectionId, projectId);
  for (const type of ["EVENT_TYPE_PROJECT", "EVENT_TYPE_SOURCE", "EVENT_TYPE_DESTINATION"]) {
    watcher.LiveApi().on(type, (payload, subType) => report.liveEvents.push(`${type} ${subType}`));
  }
  const requestMetadata = { connectionId: "c1", layoutId: layout.id, updateVersions: { a: 1 } };
  const layoutId = layout.id;
  const root = await layouts.layer.createLayer({ layoutId, layer: { type: "root", data: { size: { x: 1280, y: 720 } }, children: [], requestMetadata } });
  const child = await layouts.layer.createLayer({ layoutId, layer: { type: "child", data: { volume: 0 }, x: null, y: 7, width: null, height: null, children: [] } });
  await layouts.layer.updateLayer({ layoutId, layerId: root.id, layer: { children: [child.id], x: 0, y: 0, requestMetadata } });
  report.batch = await layouts.layer.batch({
    layoutId,
    layers: [
      { update: { id: child.id, x: 40, requestAnimation: [{ properties: ["x"], durationMs: 300 }] } },
      { create: { type: "child", data: {}, children: [], requestMetadata } },
    ],
    requestMetadata,
    requestAnimationMode: "REQUEST_ANIMATION_MODE_SERIES",
  });
  report.layers = (await layouts.layer.listLayers({ layoutId })).layers;
  report.deleted = await layouts.layer.deleteLayer({ layoutId, layerId: child.id, payload: { requestMetadata } });

  await live.project.updateProject({ collectionId, projectId, updateMask: ["metadata"], metadata: { layoutId, type: "sceneless", props: {} } });
  report.updated = await live.project.updateProject({
    collectionId, projectId, updateMask: ["composition.studioSdk.version"], composition: { studioSdk: { version: "3.0.49" } },
  });
  const { source } = await live.source.createSource({
    collectionId, address: { rtmpPush: { enabled: true } }, preview: { webrtc: { enabled: true, displayName: "Camera" } }, metadata: { props: {} },
  });
  report.source = source;
  await live.source.addSourceToProject({ collectionId, projectId, sourceId: source.sourceId });
  if (settings.sourceConnects) await until(() => report.sourceStates.some((each) => each.projectId === projectId));
  await live.source.updateSource({ collectionId, sourceId: source.sourceId, updateMask: ["metadata"], metadata: { props: { n: 1 } } });
  const { destination } = await live.destination.createDestination({
    collectionId, projectId, address: { rtmpPush: { url: "rtmp://media.example/live", key: "k-1" } }, enabled: true, metadata: {},
  });
  report.destination = destination;
  const destinationId = destination.destinationId;
  report.unforced = await refusal(live.destination.deleteDestination({ collectionId, projectId, destinationId }));
  report.first = await live.collection.getCollections({});
  const changed = { address: { rtmpPush: { url: "rtmp://other.example/live", key: "k-2" } }, metadata: { n: 1 }, enabled: false };
  report.masked = [];
  for (const path of ["address.rtmpPush", "metadata", "enabled"]) {
    report.masked.push((await live.destination.updateDestination({ collectionId, projectId, destinationId, updateMask: [path], ...changed })).destination);
  }
  // Nothing has opened the room
  report.room = await live.authentication.createWebRtcAccessToken({ collectionId, projectId, displayName: "Anna" }).catch(({ code }) => ({ code }));
  if (settings.joins) report.joined = await joined(sdk, report.room.webrtcAccess);

  const guests = { collectionId, projectId, role: "ROLE_CONTRIBUTOR" };
  const guest = await live.authentication.createGuestAccessToken({ ...guests, token: { direct: { displayName: "Ben" } } });
  const guestSdk = connect({ ...settings, sessionId: `${settings.sessionId}-guest` });
  report.guestProject = await guestSdk.load(guest.accessToken);
  report.guestSees = await guestSdk.LiveApi().project.getProject({ collectionId, projectId, status: true });
  report.guestMayNot = await refusal(guestSdk.LiveApi().project.deleteProject({ collectionId, projectId }));
  report.code = (await live.authentication.createGuestCode({ ...guests, token: { exchange: {} }, url: "https://studio.example.org/join" })).guestCode;
  report.codes = (await live.authentication.getGuestCodes({ collectionId, projectId })).guestCodes;
  await live.authentication.deleteGuestCode({ code: report.code.code });

  report.broadcastId = (await live.project.startProjectBroadcast({ collectionId, projectId })).broadcastId;
  await until(() => report.states.some((each) => each.phase?.endsWith("_RUNNING")));
  report.status = (await live.project.getProjectBroadcastStatus({ collectionId, projectId })).status;
  report.running = await refusal(live.project.deleteProject({ collectionId, projectId }));
  await live.project.stopProjectBroadcast({ collectionId, projectId });
  await until(() => report.states.some((each) => each.phase?.endsWith("_STOPPED")));
  report.stopped = (await live.project.getProject({ collectionId, projectId, status: true })).status;
  await live.source.removeSourceFromProject({ collectionId, projectId, sourceId: source.sourceId });
  await live.source.deleteSource({ collectionId, sourceId: source.sourceId });
  await until(() => report.layerEvents.some((each) => each.subType === "EVENT_SUB_TYPE_DELETE"));

  // Both at once, in no order
  const [gone, layoutGone] = await Promise.allSettled([
    live.project.deleteProject({ collectionId, projectId, force: true }),
    layouts.layout.deleteLayout({ layoutId }),
  ]);
  report.deletions = [gone.status, layoutGone.status, String(gone.reason ?? ""), String(layoutGone.reason ?? "")];
  report.missing = await refusal(live.project.getProject({ collectionId, projectId }));
  await live.collection.deleteCollection({ collectionId, force: true });
  await until(() => report.liveEvents.includes("EVENT_TYPE_PROJECT EVENT_SUB_TYPE_DELETE"));
  report.done = true;
  return report;
}

async function backend(settings) {
  const sdk = connect(settings, { apiKey: settings.apiKey });
  const { accessToken } = await sdk.LiveApi().backendAuthentication.createAccessToken({ serviceUserId: settings.user, displayName: "Anna" });
  return accessToken;
}

let waitMs = 10000;

async function until(condition) {
  for (let waited = 0; !condition() && waited < waitMs; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function reported(settings) {
  const made = {};
  try {
    return await session(settings, made);
  } catch (error) {
    await made.cleanUp?.().catch(() => undefined);
    return { failed: String(error?.stack ?? error), code: error?.code };
  }
}

if (typeof window === "undefined") {
  reported(JSON.parse(process.argv[2])).then((report) => {
    process.stdout.write(JSON.stringify(report));
    process.exit(0); // its sockets reconnect for ever
  });
} else {
  reported(SETTINGS).then((report) => fetch("/report", { method: "POST", body: JSON.stringify(report) }));
}
