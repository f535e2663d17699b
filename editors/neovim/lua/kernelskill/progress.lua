--- Work-done progress in the message area, and for the status line. Neovim's own handling goes on beside it.
local M = {}

--- The work that runs: its title, message and percentage, by client and token.
local running = {}
local is_shown = false

local function describe(value)
    local text = value.title or 'working'
    if value.message and value.message ~= '' then
        text = text .. ': ' .. value.message
    end
    if value.percentage then
        text = ('%s (%d%%)'):format(text, value.percentage)
    end
    return (text:gsub('%s+', ' '))
end

--- The work that runs now, in words; any one if there are several, nil if there is none.
---@return string|nil
function M.text()
    local _, value = next(running)
    return value and describe(value)
end

local function show()
    local text = M.text()
    if not require('kernelskill.config').get().progress or #vim.api.nvim_list_uis() == 0 then
        return
    end
    if text == nil and not is_shown then
        return -- leave other people's messages alone
    end
    is_shown = text ~= nil
    local line = text and ('kernelskill: ' .. text):sub(1, math.max(vim.o.columns - 12, 10)) or ''
    vim.api.nvim_echo({ { line } }, false, {})
    vim.cmd('redrawstatus')
end

--- The handler of $/progress.
function M.on_progress(err, params, context, ...)
    local key = context.client_id .. '/' .. tostring(params.token)
    local value = params.value
    if value.kind == 'end' then
        running[key] = nil
    else
        running[key] = vim.tbl_extend('force', running[key] or {}, value)
    end
    show()
    return vim.lsp.handlers['$/progress'](err, params, context, ...)
end

--- A client is gone, and what it ran with it.
function M.forget(client_id)
    for key in pairs(running) do
        if vim.startswith(key, client_id .. '/') then
            running[key] = nil
        end
    end
    show()
end

return M
