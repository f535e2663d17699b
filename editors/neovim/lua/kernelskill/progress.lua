--- Work-done progress in the message area. Status-line plug-ins that listen to the same events go on working.
local compat = require('kernelskill.compat')

local M = {}

local is_enabled = false
local is_shown = false

local function show(text)
    if not require('kernelskill.config').get().progress or #vim.api.nvim_list_uis() == 0 then
        return
    end
    if text == nil and not is_shown then
        return -- leave other people's messages alone
    end
    is_shown = text ~= nil
    local line = (text or ''):gsub('%s+', ' '):sub(1, math.max(vim.o.columns - 12, 10))
    vim.api.nvim_echo({ { line } }, false, {})
end

local function describe(value)
    local text = 'kernelskill: ' .. (value.title or 'working')
    if value.message and value.message ~= '' then
        text = text .. ': ' .. value.message
    end
    if value.percentage then
        text = ('%s (%d%%)'):format(text, value.percentage)
    end
    return text
end

--- Neovim 0.7 to 0.9 keep the state in client.messages and announce a change.
local function on_update_old()
    for _, client in ipairs(compat.all_clients()) do
        for _, progress in pairs(client.messages and client.messages.progress or {}) do
            if progress.title and not progress.done then
                return show(describe(progress))
            end
        end
    end
    show(nil)
end

local function on_update(event)
    local data = event.data or {}
    local client = data.client_id and vim.lsp.get_client_by_id(data.client_id)
    if not client or client.name ~= 'kernelskill' then
        return
    end
    local value = data.params and data.params.value or {}
    show(value.kind ~= 'end' and describe(value) or nil)
end

function M.enable()
    if is_enabled then
        return
    end
    is_enabled = true
    local group = vim.api.nvim_create_augroup('kernelskill_progress', { clear = true })
    if vim.fn.has('nvim-0.10') == 1 then
        vim.api.nvim_create_autocmd('LspProgress', { group = group, callback = on_update })
    else
        vim.api.nvim_create_autocmd('User', {
            group = group,
            pattern = 'LspProgressUpdate',
            callback = on_update_old,
        })
    end
end

return M
