"""Lua scripts for custom events: each is one atomic step in Redis.

`NUMBERS` is one hash: `epoch`, a random name for this content of Redis, and
`last`, the latest number. Both are lost together when Redis restarts, so numbers
of different epochs are never compared.
"""

from __future__ import annotations

NUMBERS = "onair:events:numbers"
STREAM = "onair:events:recent:{}"
CHANNEL = "onair:events:{}"

_EPOCH = """
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  epoch = ARGV[1]
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
"""

PUBLISH = (
    _EPOCH
    + """
local number = redis.call('HINCRBY', KEYS[1], 'last', 1)
local text = number .. ' ' .. epoch .. '\\n' .. ARGV[3]
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[4], '*', 'm', text)
if redis.call('MEMORY', 'USAGE', KEYS[2]) > tonumber(ARGV[6]) then
  redis.call('XTRIM', KEYS[2], 'MAXLEN', math.floor(redis.call('XLEN', KEYS[2]) / 2))
end
redis.call('EXPIRE', KEYS[2], ARGV[5])
redis.call('PUBLISH', ARGV[2], text)
return number
"""
)
"""KEYS: numbers, stream.
ARGV: epoch if there is none, channel, message, max messages, seconds to keep, max bytes."""

RECENT = (
    _EPOCH
    + """
local now = redis.call('TIME')
local oldest = (now[1] - ARGV[2]) * 1000
local found = redis.call('XRANGE', KEYS[2], oldest < 0 and 0 or oldest, '+')
local floor = 0
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
if first then
  local info = redis.call('XINFO', 'STREAM', KEYS[2])
  local facts = {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  if facts['entries-added'] > facts['length'] then
    floor = tonumber(string.match(first[2][2], '^%d+')) - 1
  end
end
local texts, ages = {}, {}
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
for i, each in ipairs(found) do
  texts[i] = each[2][2]
  ages[i] = now_ms - tonumber(string.match(each[1], '^%d+'))
end
return {epoch, tonumber(redis.call('HGET', KEYS[1], 'last') or 0), floor, texts, ages}
"""
)
"""KEYS: numbers, stream. ARGV: epoch if there is none, seconds back.
Returns epoch, last number, the number up to which messages may be evicted, the messages, their ages in
milliseconds by the clock of Redis."""
