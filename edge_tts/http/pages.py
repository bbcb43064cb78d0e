"""Two self-contained pages: nothing is loaded from anywhere else."""

from __future__ import annotations

POLICY = (
    "default-src 'none'; connect-src 'self'; media-src blob:; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'"
)

_STYLE = """<style>
body{font:16px sans-serif;max-width:40em;margin:2em auto;padding:0 1em}
textarea{width:100%;height:8em}textarea,select,input,button{font:inherit;margin:.2em 0}
</style>"""

_TOKEN = """<input id="token" type="password" placeholder="token, if one is set">"""

_SCRIPT = """
const $ = id => document.getElementById(id);
const headers = () => $('token').value ? {Authorization: 'Bearer ' + $('token').value} : {};
"""

SPEAK = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>edge-tts</title>{_STYLE}
<h1>edge-tts</h1>
<textarea id="text">Hello. 你好。</textarea><br>
<select id="voice"><option>auto</option></select> {_TOKEN}
<button id="speak">Speak</button> <button id="stop">Stop</button>
<p><audio id="audio" controls></audio><p id="status" role="status"></p><p><a href="/docs">API</a>
<script>{_SCRIPT}
let running = null;
async function voices() {{
  const reply = await fetch('/v1/voices', {{headers: headers()}});
  if (!reply.ok) return;
  const names = ['auto', ...(await reply.json()).speakers];
  $('voice').replaceChildren(...names.map(name => new Option(name)));
}}
function stop() {{
  if (running) running.abort();
  $('audio').pause();
  $('status').textContent = 'stopped';
}}
async function speak() {{
  stop();
  running = new AbortController();
  $('status').textContent = 'speaking…';
  try {{
    const reply = await fetch('/v1/audio/speech', {{
      method: 'POST', signal: running.signal,
      headers: {{'Content-Type': 'application/json', ...headers()}},
      body: JSON.stringify({{input: $('text').value, voice: $('voice').value}})}});
    if (!reply.ok) throw new Error((await reply.json()).error.message);
    URL.revokeObjectURL($('audio').src);
    $('audio').src = URL.createObjectURL(await reply.blob());
    await $('audio').play();
    $('status').textContent = 'ready';
  }} catch (error) {{ $('status').textContent = error.message; }}
}}
$('speak').onclick = speak; $('stop').onclick = stop; $('token').onchange = voices; voices();
</script></html>"""

DOCS = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>edge-tts API</title>{_STYLE}
<h1>edge-tts API</h1>{_TOKEN}<pre id="schema"></pre>
<script>{_SCRIPT}
async function show() {{
  const reply = await fetch('/openapi.json', {{headers: headers()}});
  $('schema').textContent = JSON.stringify(await reply.json(), null, 2);
}}
$('token').onchange = show; show();
</script></html>"""
