/** The connection to the pod's agent, which sends what is to be drawn and takes what is to be reported. It reconnects by itself. */

import type {Failure} from '../failure/layer_failures';
import {messageOf, type AgentMessage} from '../state/agent_message';

/** The agent runs next to this page; without a page it puts the slate on air. */
const RETRY_MS = 200;

export class AgentConnection {
  private socket: WebSocket | null = null;
  private isReady = false;
  private failures: readonly Failure[] = [];

  constructor(private readonly url: string, private readonly take: (message: AgentMessage) => void) {
    this.open();
  }

  get connected(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  ready(): void {
    if (this.isReady) return;
    this.isReady = true;
    this.send({type: 'ready'});
  }

  failed(failures: readonly Failure[]): void {
    this.failures = failures;
    this.send({type: 'failed', layers: failures});
  }

  levels(layers: Readonly<Record<string, number>>): void {
    this.send({type: 'levels', layers});
  }

  private open(): void {
    const socket = this.socket = new WebSocket(this.url);
    socket.onopen = () => {
      // An agent that was restarted knows nothing of this page
      this.failed(this.failures);
      if (this.isReady) this.send({type: 'ready'});
    };
    socket.onmessage = ({data}) => {
      const message = typeof data === 'string' ? messageOf(data) : null;
      if (message) this.take(message);
    };
    socket.onclose = () => setTimeout(() => this.open(), RETRY_MS);
  }

  private send(message: object): void {
    if (this.connected) this.socket?.send(JSON.stringify(message));
  }
}
