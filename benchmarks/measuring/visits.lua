-- Visits, for wrk: each a line of a file, with its path and then its headers, between tabs. They come in turn.
-- wrk -s visits.lua URL -- FILE
local requests, number

function init(arguments)
  requests, number = {}, 0
  for line in io.lines(arguments[1]) do
    local path, headers = nil, {}
    for field in line:gmatch("[^\t]+") do
      if path then
        local name, value = field:match("^([^:]+): (.*)$")
        headers[name] = value
      else
        path = field
      end
    end
    headers["Host"] = wrk.headers["Host"]
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end

function request()
  number = number % #requests + 1
  return requests[number]
end
