"""Lua scripts for custom events: each is one atomic step in Redis.

The numbers are one hash: `epoch`, a random name for this content of Redis, and
`last`, the latest number. Both are lost together when Redis restarts, so numbers
of different epochs are never compared.
"""

from __future__ import annotations

_EPOCH = """
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  epoch = ARGV[1]
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
"""

_COUNT = """
local function halve(stream)
  redis.call('XTRIM', stream, 'MAXLEN', math.floor(redis.call('XLEN', stream) / 2))
end
-- 0 where it has expired, which MEMORY does not look at; what is noted of it takes memory as well
local function size_of(stream)
  if redis.call('EXISTS', stream) == 0 then return 0 end
  return redis.call('MEMORY', 'USAGE', stream) + 256
end
local function note(stream)
  local size, noted = size_of(stream), tonumber(redis.call('ZSCORE', sizes, stream) or 0)
  if size > 0 then redis.call('ZADD', sizes, size, stream) else redis.call('ZREM', sizes, stream) end
  return redis.call('INCRBY', together, size - noted)
end
local now = tonumber(redis.call('TIME')[1])
for _, stream in ipairs(redis.call('ZRANGEBYSCORE', ends, 0, now, 'LIMIT', 0, 16)) do
  redis.call('ZREM', ends, stream)
  note(stream)
end
redis.call('ZADD', ends, now + life_s + 1, added)
local total = note(added)
for _ = 1, 16 do
  if total <= most then break end
  local first, size, second, next_size = unpack(redis.call('ZREVRANGE', sizes, 0, 1, 'WITHSCORES'))
  if not first then break end
  -- Of equals not the one that was just added to
  local largest = first == added and size == next_size and second or first
  -- One that is empty is kept, as that tells what it has lost, unless all are
  if redis.call('XLEN', largest) > 0 then halve(largest) else redis.call('DEL', largest) end
  total = note(largest)
end
for _, each in ipairs({sizes, ends, together}) do
  if redis.call('TTL', each) < noted_s then redis.call('EXPIRE', each, noted_s) end
end
"""
"""Counts a stream that was just added to, `added`, among all of its service, and bounds those.

Locals before it: `added`, its `life_s`, the `most` bytes of all; of the service `sizes`, `ends` and
`together`, and for how many seconds these are kept, `noted_s`.
"""

PUBLISH = (
    _EPOCH
    + """
local number = redis.call('HINCRBY', KEYS[1], 'last', 1)
local text = number .. ' ' .. epoch .. '\\n' .. ARGV[3]
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[4], '*', 'm', text)
redis.call('EXPIRE', KEYS[2], ARGV[5])
redis.call('PUBLISH', ARGV[2], text)
if redis.call('MEMORY', 'USAGE', KEYS[2]) > tonumber(ARGV[6]) then
  redis.call('XTRIM', KEYS[2], 'MAXLEN', math.floor(redis.call('XLEN', KEYS[2]) / 2))
end
local added, sizes, ends, together = unpack(KEYS, 2, 5)
local life_s, noted_s, most = tonumber(ARGV[5]), tonumber(ARGV[5]), tonumber(ARGV[7])
"""
    + _COUNT
    + """
return number
"""
)
"""KEYS: numbers, stream; of its service sizes, ends, total.
ARGV: epoch if there is none, channel, message, max messages, seconds to keep, max bytes of the stream, of the
service's streams. Of those the largest loses its older half, as often as it takes: who has little keeps it.
"""

KEEP = (
    """
redis.call('DEL', KEYS[1])
redis.call('XADD', KEYS[1], '*', 'v', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
local added, sizes, ends, together = unpack(KEYS)
local life_s, noted_s, most = tonumber(ARGV[2]), tonumber(ARGV[2]) + 2, tonumber(ARGV[3])
"""
    + _COUNT
)
"""Keeps one value as a stream that counts for a service, and may be emptied, like those of its events.

KEYS: its own; of its service sizes, ends, total. ARGV: value, seconds to keep, max bytes of the service's
streams.
"""

RECENT = (
    _EPOCH
    + """
local now = redis.call('TIME')
local function number_of(entry) return tonumber(string.match(entry[2][2], '^%d+')) end
local floor = 0
local last = tonumber(redis.call('HGET', KEYS[1], 'last') or 0)
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
if first then
  local info = redis.call('XINFO', 'STREAM', KEYS[2])
  local facts = {}
  for i = 1, #info, 2 do facts[info[i]] = info[i + 1] end
  if facts['entries-added'] > facts['length'] then floor = number_of(first) - 1 end
elseif redis.call('EXISTS', KEYS[2]) == 1 then
  floor = last
end
local from = '(' .. ARGV[3]
if ARGV[3] == '' then
  from = string.format('%.0f-0', math.max(1, (now[1] - ARGV[2]) * 1000))
  local older = redis.call('XREVRANGE', KEYS[2], '(' .. from, '-', 'COUNT', 1)[1]
  if older then floor = math.max(floor, number_of(older)) end
end
local found = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', ARGV[4])
local texts, ages = {}, {}
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
for i, each in ipairs(found) do
  texts[i] = each[2][2]
  ages[i] = now_ms - tonumber(string.match(each[1], '^%d+'))
end
return {epoch, last, floor, texts, ages, #found == tonumber(ARGV[4]) and found[#found][1] or ''}
"""
)
"""KEYS: numbers, stream. ARGV: epoch if there is none, seconds back, where a page before ended, or empty, max
messages.
Returns epoch, last number, the number up to which messages may be gone, the messages, their ages in
milliseconds by the clock of Redis, where the page ends, or empty if it is the last."""
