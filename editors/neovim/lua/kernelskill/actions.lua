--- Code actions by request: listing them, resolving one, applying its edit.
local compat = require('kernelskill.compat')
local edits = require('kernelskill.edits')
local execute = require('kernelskill.execute')

local M = {}

local function at_cursor()
    local encoding = 'utf-16'
    local client = compat.clients(0)[1]
    if client then
        encoding = client.offset_encoding or encoding
    end
    return vim.lsp.util.make_range_params(0, encoding).range
end

--- Asks for actions of the kinds at the range and calls back with a list, empty if there are none.
---@param bufnr number
---@param range table|nil LSP range; nil: the cursor
---@param kinds string[]
---@param callback fun(actions: table[], client: table)
function M.list(bufnr, range, kinds, callback)
    local client = execute.client_of(bufnr)
    if not client then
        return
    end
    local params = {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
        range = range or at_cursor(),
        context = { only = kinds, diagnostics = {} },
    }
    compat.request(client, 'textDocument/codeAction', params, function(err, actions)
        if err then
            vim.notify('kernelskill: ' .. err.message, vim.log.levels.ERROR)
            return
        end
        callback(actions or {}, client)
    end, bufnr)
end

--- Applies an action: the edit it carries, or its command, which is when a skill is applied and verified. A refusal
--- (a stale buffer, an edit that failed the check) is shown and changes nothing.
---@param done fun(err: table|nil)|nil
function M.apply(action, client, bufnr, done)
    done = done or function() end
    if action.edit then
        edits.apply(action.edit, client.offset_encoding or 'utf-16')
    end
    if not action.command then
        return done(nil)
    end
    execute.run(bufnr, action.command.command, action.command.arguments[1], function(_, err)
        done(err)
    end)
end

local function choose(actions, client, bufnr, prompt, nothing)
    if #actions == 0 then
        vim.notify('kernelskill: ' .. nothing, vim.log.levels.INFO)
    elseif #actions == 1 then
        M.apply(actions[1], client, bufnr)
    else
        vim.ui.select(actions, {
            prompt = prompt,
            format_item = function(action)
                return (action.title:gsub('\n', ' '))
            end,
        }, function(action)
            if action then
                M.apply(action, client, bufnr)
            end
        end)
    end
end

--- Skills that fit at the cursor; with an id, that skill at once.
---@param skill string|nil
function M.apply_skill(skill)
    local bufnr = vim.api.nvim_get_current_buf()
    local kind = 'refactor.rewrite' .. (skill and skill ~= '' and '.' .. skill or '')
    M.list(bufnr, nil, { kind }, function(actions, client)
        local nothing = 'no skill fits here'
        if skill and skill ~= '' then
            nothing = ("skill '%s' does not fit here"):format(skill)
        end
        choose(actions, client, bufnr, 'Apply skill', nothing)
    end)
end

--- Fixes for compile errors anywhere in the buffer.
function M.repair()
    local bufnr = vim.api.nvim_get_current_buf()
    M.list(bufnr, compat.whole_buffer(bufnr), { 'quickfix' }, function(actions, client)
        choose(actions, client, bufnr, 'Fix compile error', 'no fix for a compile error is known here')
    end)
end

return M
