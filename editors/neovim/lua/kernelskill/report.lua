--- What the server found out, as text in a scratch window.
local M = {}

local function number(value)
    if value == math.floor(value) and math.abs(value) < 1e15 then
        return ('%d'):format(value)
    end
    return ('%.4g'):format(value)
end

local function triple(dimensions)
    if type(dimensions) ~= 'table' then
        return tostring(dimensions)
    end
    local d = { dimensions.x or dimensions[1], dimensions.y or dimensions[2], dimensions.z or dimensions[3] }
    return table.concat(vim.tbl_map(number, d), ' x ')
end

local function text_of(evidence)
    return type(evidence) == 'table' and evidence.text or tostring(evidence)
end

--- Lines of a profile (the JSON of `kernelskill profile`).
---@return string[]
function M.profile_lines(profile)
    local lines = { '# ' .. profile.kernel, '' }
    local bottleneck = profile.bottleneck
    if bottleneck then
        local headroom = bottleneck.headroom and (', headroom ' .. bottleneck.headroom) or ''
        lines[#lines + 1] = ('Bottleneck: %s%s'):format(bottleneck.kind, headroom)
        if type(bottleneck.gain) == 'table' then
            lines[#lines + 1] = bottleneck.gain.text
        end
        for _, evidence in ipairs(bottleneck.evidence or {}) do
            lines[#lines + 1] = '- ' .. text_of(evidence)
        end
        lines[#lines + 1] = ''
    end
    local launch = profile.launch
    if launch then
        lines[#lines + 1] = ('Launch: grid %s, block %s, %s bytes of dynamic shared memory, on the %s'):format(
            triple(launch.grid),
            triple(launch.block),
            number(launch.shared_bytes or 0),
            profile.executor
        )
        lines[#lines + 1] = ''
    end
    if profile.hazards and #profile.hazards > 0 then
        lines[#lines + 1] = '## Hazards'
        for _, hazard in ipairs(profile.hazards) do
            lines[#lines + 1] = ('- line %d: %s: %s'):format((hazard.line or 0) + 1, hazard.kind, hazard.message)
        end
        lines[#lines + 1] = ''
    end
    local names = vim.tbl_keys(profile.metrics or {})
    if #names > 0 then
        table.sort(names)
        lines[#lines + 1] = '## Metrics'
        for _, name in ipairs(names) do
            lines[#lines + 1] = ('%-72s %s'):format(name, number(profile.metrics[name]))
        end
    end
    return lines
end

--- Lines of the memory of a file (the JSON of `kernelskill memory show`).
---@return string[]
function M.memory_lines(memory)
    local lines = { '# ' .. vim.fn.fnamemodify(memory.file or '', ':~:.'), '' }
    for _, entry in ipairs(memory.entries or {}) do
        local text = ('%s  %-8s %s'):format(entry.time or '', entry.kind or '', entry.kernel or '')
        for _, field in ipairs({ 'skill', 'status', 'detail' }) do
            local value = entry[field]
            if type(value) == 'string' and value ~= '' then
                text = text .. '  ' .. value
            end
        end
        lines[#lines + 1] = (text:gsub('\n', ' '))
    end
    if #lines == 2 then
        lines[#lines + 1] = 'Nothing was tried on this file yet.'
    end
    return lines
end

--- Shows lines in a window of their own; the same window again for the same name.
---@return number buffer
function M.show(name, lines)
    local title = 'kernelskill://' .. name
    local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(title, '[]*?') .. '$')
    if bufnr == -1 then
        bufnr = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_name(bufnr, title)
        vim.bo[bufnr].filetype = 'markdown'
        vim.bo[bufnr].bufhidden = 'hide'
        vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = bufnr, desc = 'Close' })
    end
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    vim.bo[bufnr].modifiable = false
    if vim.fn.bufwinid(bufnr) == -1 then
        vim.cmd('botright split')
        vim.api.nvim_win_set_buf(0, bufnr)
        vim.api.nvim_win_set_height(0, math.min(#lines + 1, math.floor(vim.o.lines / 2)))
    end
    return bufnr
end

return M
