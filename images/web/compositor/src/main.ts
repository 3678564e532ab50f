/** The compositor: draws what the pod's agent sends, and reports what became of it. */

import {AgentConnection} from './agent/connection';
import {LiveSources} from './content/live_sources';
import {Overlay} from './debug/overlay';
import {LayerFailures} from './failure/layer_failures';
import {Room} from './room/room';
import {Mixer} from './sound/mixer';
import {FrameRateDependence} from './stage/frame_rate_dependence';
import {painted} from './stage/painted';
import {Stage} from './stage/stage';
import type {AgentMessage} from './state/agent_message';
import {changed, following, type Scene} from './state/scene';

const LEVELS_MS = 1000;

let scene: Scene | null = null, isReady = false, isHeard = false;
const debug = new URLSearchParams(location.search).get('debug') === 'true';
const mixer = new Mixer();
const sources = new LiveSources(() => mixer.audioContext);
const failures = new LayerFailures(all => connection.failed(all));
const stage = new Stage({mixer, sources, room: new Room(), failures});
document.body.append(stage.element);
const frameRateDependence = new FrameRateDependence(stage.element, word => console.log(word));
const connection = new AgentConnection(`ws://${location.host}/scene`, message => void take(message));
const overlay = new Overlay(stage.element, () =>
  ({scene, connected: connection.connected, failures: failures.all, levels: mixer.levels()}));

async function take(message: AgentMessage): Promise<void> {
  if (message.type === 'state') {
    scene = following(scene, message.scene);
    overlay.setShown(debug || scene.debug);
    await stage.update(scene);
    frameRateDependence.tell();
    await ready();
  } else if (scene) {
    const {layoutId, animation} = message.change, after = changed(scene, message.change);
    if (after === scene) return;
    scene = after;
    await stage.update(scene, layoutId, animation);
    frameRateDependence.tell();
  }
}

/** Tells once that the show may begin: to the agent, and as any page may. */
async function ready(): Promise<void> {
  await stage.ready();
  if (isReady) return;
  await painted();
  if (isReady) return;
  isReady = true;
  connection.ready();
  console.log('onair:ready');
  document.dispatchEvent(new CustomEvent('onair:ready'));
}

setInterval(() => {
  frameRateDependence.tell();
  const levels = mixer.levels(), wasHeard = isHeard;
  isHeard = Object.keys(levels).length > 0;
  if (isHeard || wasHeard) connection.levels(levels);
}, LEVELS_MS);
