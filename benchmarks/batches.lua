-- What browsers send, for wrk: batches of events, each with new ids, each of a device that sends five of them.
-- wrk -s batches.lua URL -- KEY ORIGIN CALLS SEED
local DEVICES, BATCHES_OF_A_DEVICE = 256, 5
local head, number, devices, sent

local function uuid()
  local random = math.random
  return string.format(
    "%08x-%04x-4%03x-a%03x-%06x%06x", random(0, 0xffffffff), random(0, 0xffff), random(0, 0xfff),
    random(0, 0xfff), random(0, 0xffffff), random(0, 0xffffff)
  )
end

function init(arguments)
  local key, origin
  key, origin, number = arguments[1], arguments[2], tonumber(arguments[3])
  math.randomseed(tonumber(arguments[4]))
  wrk.method = "POST"
  wrk.headers["Origin"] = origin
  wrk.headers["Content-Type"] = "text/plain;charset=UTF-8"
  head = '{"api_key":"' .. key .. '","sdk":"js/bench","device_id":"'
  devices, sent = {}, 0
end

function request()
  local slot = sent % DEVICES
  -- Each device is at another of its batches, so that new ones come evenly.
  if sent < DEVICES or (math.floor(sent / DEVICES) + slot) % BATCHES_OF_A_DEVICE == 0 then
    devices[slot] = uuid()
  end
  sent = sent + 1
  local now = os.date("!%Y-%m-%dT%H:%M:%S.000Z")
  local calls = {}
  for place = 1, number do
    calls[place] = '{"kind":"event","call_id":"' .. uuid() .. '","occurred_at":"' .. now
      .. '","page":"https://shop.example/kites","name":"added_to_cart"}'
  end
  local body = head .. devices[slot] .. '","sent_at":"' .. now .. '","calls":[' .. table.concat(calls, ",") .. ']}'
  return wrk.format(nil, nil, nil, body)
end
