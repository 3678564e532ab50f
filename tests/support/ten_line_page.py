"""A compositor of ten lines: the canvas has the colour of the selected layout's layer `left`."""

PAGE = """<!doctype html><body style="margin: 0"><script>
const WHY = 'http://a.example/x?key=secret HTTP 404';
let stage, socket;
const draw = () => { const left = stage && stage.layers.find(each => each.id === 'left');
  document.body.style.background = left ? left.data.backgroundColor : '#000'; };
const say = message => socket.send(JSON.stringify(message));
const take = told => {
  if (told.type === 'state') stage = told.layouts.find(each => each.id === told.selectedLayoutId);
  else if (stage && told.layoutId === stage.id) for (const layer of told.upsert)
    stage.layers = [...stage.layers.filter(each => each.id !== layer.id), layer];
  draw();
  const slow = stage && stage.layers.some(each => each.data.slow);
  say({type: 'failed', layers: stage ? stage.layers.filter(each => each.data.missing)
    .map(each => ({layoutId: stage.id, layerId: each.id, reason: WHY})) : []});
  if (!slow) say({type: 'ready'}); };
const connect = () => { socket = new WebSocket('ws://127.0.0.1:8450/scene');
  socket.onmessage = event => take(JSON.parse(event.data));
  socket.onclose = () => setTimeout(connect, 100); };
connect();
</script>"""
