-- Visits of short URLs, for wrk: each of another link drawn at random, or of one after the other.
-- wrk -s links.lua URL -- LINKS START; START is the first of those in turn, -1 for drawn ones.
local links, number

function init(arguments)
  links, number = tonumber(arguments[1]), tonumber(arguments[2])
  math.randomseed(os.time())
end

function request()
  local drawn = math.random(0, links - 1)
  if number >= 0 then
    drawn, number = number, (number + 1) % links
  end
  return wrk.format(nil, "/kites/" .. drawn)
end
