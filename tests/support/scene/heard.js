// Keeps what a page plays: taps whatever is connected to an audio context's destination.
(() => {
  const heard = window.heard = {samples: [], rate: 0, context: null};
  const connect = AudioNode.prototype.connect;
  const recorder = `registerProcessor('recorder', class extends AudioWorkletProcessor {
    process([[samples]]) { if (samples) this.port.postMessage(samples.slice()); return true; }
  });`;
  AudioNode.prototype.connect = function(target, ...more) {
    if (target instanceof AudioDestinationNode && !(this.context instanceof OfflineAudioContext)) {
      const url = URL.createObjectURL(new Blob([recorder], {type: 'text/javascript'}));
      heard.rate = this.context.sampleRate;
      heard.context = this.context;
      this.context.audioWorklet.addModule(url).then(() => {
        const tap = new AudioWorkletNode(this.context, 'recorder', {numberOfOutputs: 1});
        tap.port.onmessage = ({data}) => heard.samples.push(...data);
        connect.call(this, tap);
        connect.call(tap, target);
      });
    }
    return connect.call(this, target, ...more);
  };
})();
