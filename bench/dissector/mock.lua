-- SPDX-License-Identifier: Apache-2.0
-- What the dissector uses of Wireshark, for a Lua interpreter without it. dissect(wire, over_ip) returns the fields of a
-- packet as lines of name and value, and the line of the packet list. bits(wire, at, n) is the test's.

base = { DEC = 1, HEX = 2 }
local tables = { ["udp.port"] = {}, ["ip.proto"] = {} }

DissectorTable = { get = function(name)
  return { add = function(_, number, proto) tables[name][number] = proto end }
end }

ProtoField = setmetatable({}, { __index = function(_, kind)
  return function(abbr) return { abbr = abbr, kind = kind } end
end })

function Proto(name) return { name = name } end

local Tvb = {}
Tvb.__index = Tvb
Tvb.__call = function(self, at, n)
  at = at or 0
  n = n or #self.wire - at
  assert(at >= 0 and n >= 0 and at + n <= #self.wire, "a range beyond the packet")
  return setmetatable({ wire = self.wire:sub(at + 1, at + n) }, Tvb)
end
function Tvb:len() return #self.wire end
function Tvb:reported_len() return #self.wire end
function Tvb:tvb() return self end
function Tvb:bitfield(at, n) return bits(self.wire, at, n) end
function Tvb:uint() return bits(self.wire, 0, 8 * #self.wire) end

local lines
local Tree = {}
Tree.__index = Tree
function Tree:add(field, range, value)
  if field.abbr then lines[#lines + 1] = field.abbr .. " " .. tostring(value) end
  return self
end
function Tree:append_text() end

function dissect(wire, over_ip)
  lines = {}
  local table, number = "udp.port", 4793
  if over_ip then table, number = "ip.proto", 253 end
  local pinfo = { cols = {} }
  tables[table][number].dissector(setmetatable({ wire = wire }, Tvb), pinfo, setmetatable({}, Tree))
  return lines, pinfo.cols.info
end
