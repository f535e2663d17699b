--- The server's findings as lines of text, and the places in the source that they name.
local M = {}

local function number(value)
    if value == math.floor(value) and math.abs(value) < 1e15 then
        return ('%d'):format(value)
    end
    return ('%.4g'):format(value)
end

local function triple(dimensions)
    return table.concat(vim.tbl_map(number, dimensions), ' x ')
end

--- Lines with their places: `add(text)`, or `add(text, { file, line })`.
local function page()
    local lines, places = {}, {}
    return {
        lines = lines,
        places = places,
        add = function(text, place)
            for _, line in ipairs(vim.split(text, '\n')) do
                lines[#lines + 1] = line
                places[#lines] = place
            end
        end,
    }
end

local function place_of(item)
    if type(item) == 'table' and type(item.file) == 'string' and type(item.line) == 'number' then
        return { file = item.file, line = item.line }
    end
    return nil
end

--- The counts of a line, a clause each: { per, of, words } is "per / of words".
local ratios = {
    {
        'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum',
        'l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum',
        'sectors a global load',
    },
    {
        'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum',
        'l1tex__t_requests_pipe_lsu_mem_global_op_st.sum',
        'sectors a global store',
    },
    {
        'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum',
        'smsp__inst_executed_op_shared_ld.sum',
        'wavefronts a shared load',
    },
    {
        'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum',
        'smsp__inst_executed_op_shared_st.sum',
        'wavefronts a shared store',
    },
}
local warp_lanes = 32

local function clauses_of(metrics)
    local clauses = {}
    for _, ratio in ipairs(ratios) do
        local count, requests = metrics[ratio[1]], metrics[ratio[2]]
        if count and requests and requests > 0 then
            clauses[#clauses + 1] = number(count / requests) .. ' ' .. ratio[3]
        end
    end
    local lanes = metrics['smsp__thread_inst_executed_per_inst_executed.ratio']
    if lanes and lanes < warp_lanes then
        clauses[#clauses + 1] = ('%s of %d lanes at work'):format(number(lanes), warp_lanes)
    end
    return clauses
end

local function add_bottleneck(add, bottleneck)
    local headroom = bottleneck.headroom == 'none' and ', at its limit'
        or bottleneck.headroom ~= '' and (', %s headroom'):format(bottleneck.headroom)
        or ''
    add(('Bottleneck: %s%s'):format(bottleneck.kind, headroom))
    if type(bottleneck.gain) == 'table' then
        add(bottleneck.gain.text)
    end
    for _, evidence in ipairs(bottleneck.evidence) do
        add('- ' .. evidence.text, place_of(evidence))
    end
end

local function add_launch(add, profile)
    local launch = profile.launch
    add('')
    add('## Launch')
    add(
        ('grid %s, block %s, %s bytes of dynamic shared memory, on the %s'):format(
            triple(launch.grid),
            triple(launch.block),
            number(launch.shared_bytes),
            profile.executor
        )
    )
    for _, note in ipairs(launch.notes) do
        add('- ' .. note)
    end
end

local function add_compiled(add, facts)
    if type(facts) ~= 'table' or facts.error then
        return
    end
    add('')
    add('## Compiled')
    add(
        ('%d registers a thread, %d bytes of static shared memory, for %s; %s'):format(
            facts.registers,
            facts.shared_bytes,
            facts.architecture,
            facts.local_memory
        )
    )
    if type(facts.occupancy) == 'table' then
        local limits = table.concat(facts.occupancy.limiters, ', ')
        add(('theoretical occupancy %s %%, limited by %s'):format(number(facts.occupancy.percent), limits))
    end
end

local function add_hazards(add, hazards)
    if #hazards == 0 then
        return
    end
    add('')
    add('## Hazards')
    for _, hazard in ipairs(hazards) do
        add(('- line %d: %s: %s'):format(hazard.line + 1, hazard.kind, hazard.message), place_of(hazard))
    end
end

local function add_lines(add, lines)
    local has_heading = false
    for _, line in ipairs(lines) do
        local clauses = clauses_of(line.metrics)
        if #clauses > 0 then
            if not has_heading then
                has_heading = true
                add('')
                add('## Lines (Enter goes there)')
            end
            add(('%5d  %s'):format(line.line + 1, table.concat(clauses, '; ')), place_of(line))
        end
    end
end

local function add_metrics(add, metrics)
    local names = vim.tbl_keys(metrics)
    table.sort(names)
    add('')
    add('## Metrics')
    for _, name in ipairs(names) do
        add(('%-72s %s'):format(name, number(metrics[name])))
    end
end

--- A profile (the JSON of `kernelskill profile`).
---@return string[] lines
---@return table<number, {file: string, line: number}> places by line
function M.profile(profile)
    local text = page()
    text.add('# ' .. profile.kernel)
    text.add('')
    add_bottleneck(text.add, profile.bottleneck)
    for _, estimate in ipairs({ profile.measured, profile.roofline }) do
        if type(estimate) == 'table' then
            text.add(estimate.text)
        end
    end
    add_hazards(text.add, profile.hazards)
    add_lines(text.add, profile.lines)
    add_launch(text.add, profile)
    add_compiled(text.add, profile.static)
    add_metrics(text.add, profile.metrics)
    return text.lines, text.places
end

--- "2026-11-22 11:15:16" of a time as the server writes it, which is UTC.
local function moment(time)
    return (time:gsub('T', ' '):gsub('%..*$', ''))
end

--- The memory of a file (the JSON of `kernelskill memory show`): kernel by kernel, the newest entry last.
---@return string[]
function M.memory(memory)
    local text = page()
    text.add('# What was tried on ' .. vim.fn.fnamemodify(memory.file, ':~:.'))
    if #memory.entries == 0 then
        text.add('')
        text.add('Nothing yet. `:KernelSkill apply` or `:KernelSkill optimize` tries something.')
    end
    local kernels, entries = {}, {}
    for _, entry in ipairs(memory.entries) do
        if not entries[entry.kernel] then
            entries[entry.kernel] = {}
            kernels[#kernels + 1] = entry.kernel
        end
        table.insert(entries[entry.kernel], entry)
    end
    for _, kernel in ipairs(kernels) do
        text.add('')
        text.add('## ' .. kernel)
        for _, entry in ipairs(entries[kernel]) do
            local status = entry.status ~= '' and ': ' .. entry.status or ''
            text.add(('%s  %-7s  %s%s'):format(moment(entry.time), entry.kind, entry.skill, status))
            if entry.detail ~= '' then
                text.add('    ' .. entry.detail:gsub('\n', '\n    '))
            end
        end
    end
    return text.lines
end

--- The profile of a program (the answer of kernelskill.profileProgram).
---@return string[] lines
---@return table<number, {file: string, line: number}> places by line
function M.program(profile)
    local text = page()
    text.add('# ' .. profile.name)
    text.add(table.concat(profile.program, ' '))
    if profile.status ~= 0 then
        text.add(('The program ended with status %d.'):format(profile.status))
    end
    if profile.dropped > 0 then
        text.add(('CUPTI dropped %d records: times are too low.'):format(profile.dropped))
    end
    text.add('')
    for row, line in ipairs(profile.lines) do
        local kernel = profile.kernels[row - 1] -- the first line is the head
        local is_placed = kernel and type(kernel.uri) == 'string'
        text.add(line, is_placed and { file = vim.uri_to_fname(kernel.uri), line = kernel.line } or nil)
    end
    text.add('')
    for _, device in ipairs(profile.devices) do
        text.add(device.text)
    end
    for _, kernel in ipairs(profile.kernels) do
        local failure = type(kernel.profile) == 'table' and kernel.profile.error
        if failure then
            text.add(('%s: %s%s'):format(kernel.name, failure.what, failure.where ~= '' and ' (' .. failure.where .. ')' or ''))
        end
    end
    if type(profile.changes) == 'table' then
        text.add('')
        text.add('## Since the last profile')
        for _, change in ipairs(profile.changes) do
            text.add('- ' .. change.text)
        end
    end
    return text.lines, text.places
end

return M
