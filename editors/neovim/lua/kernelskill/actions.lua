--- Code actions by request: listing them, resolving one, applying its edit.
local compat = require('kernelskill.compat')

local M = {}

local function client_of(bufnr)
    local client = compat.clients(bufnr)[1]
    if not client then
        vim.notify('kernelskill: no server for this buffer; see :checkhealth kernelskill', vim.log.levels.WARN)
    end
    return client
end

--- Positions of the whole buffer; an end past the last line is cut by the server, as the protocol says.
local function whole_buffer(bufnr)
    return {
        start = { line = 0, character = 0 },
        ['end'] = { line = vim.api.nvim_buf_line_count(bufnr), character = 0 },
    }
end

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
    local client = client_of(bufnr)
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

local function apply_edit(action, client, done)
    if action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding or 'utf-16')
    end
    if action.command then
        compat.request(client, 'workspace/executeCommand', action.command, function(err)
            if err then
                vim.notify('kernelskill: ' .. err.message, vim.log.levels.ERROR)
            end
            done(err)
        end)
        return
    end
    done(nil)
end

--- Resolves an action, which is when a skill is applied and verified, and applies its edit. A refusal (a stale
--- buffer, an edit that failed the check) is shown and changes nothing.
---@param done fun(err: table|nil)|nil
function M.apply(action, client, bufnr, done)
    done = done or function() end
    if action.edit or not action.data then
        return apply_edit(action, client, done)
    end
    compat.request(client, 'codeAction/resolve', action, function(err, resolved)
        if err then
            vim.notify('kernelskill: ' .. err.message, vim.log.levels.ERROR)
            return done(err)
        end
        apply_edit(resolved, client, done)
    end, bufnr)
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
    M.list(bufnr, whole_buffer(bufnr), { 'quickfix' }, function(actions, client)
        choose(actions, client, bufnr, 'Fix compile error', 'no fix for a compile error is known here')
    end)
end

return M
