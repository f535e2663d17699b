--- Edits that the server asks for: shown first where they are to be confirmed, and one step to undo.
local preview = require('kernelskill.preview')

local M = {}

--- The edit without its questions, which the user has been asked: newer versions of Neovim would ask again.
local function plain(edit)
    local copy = vim.deepcopy(edit)
    copy.changeAnnotations = nil
    for _, change in ipairs(copy.documentChanges or {}) do
        for _, text_edit in ipairs(change.edits or {}) do
            text_edit.annotationId = nil
        end
    end
    return copy
end

--- The changes of a workspace edit in one shape.
---@return table[] of { uri, version, edits }
local function changes_of(edit)
    local changes = {}
    for _, change in ipairs(edit.documentChanges or {}) do
        local document = change.textDocument
        local version = type(document.version) == 'number' and document.version or nil
        changes[#changes + 1] = { uri = document.uri, version = version, edits = change.edits }
    end
    for uri, edits in pairs(edit.changes or {}) do
        changes[#changes + 1] = { uri = uri, edits = edits }
    end
    return changes
end

local function lines_of(bufnr)
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

local function unified_diff(before, after)
    local diff = vim.diff or vim.text.diff
    return diff(table.concat(before, '\n') .. '\n', table.concat(after, '\n') .. '\n', { ctxlen = 3 })
end

--- A unified diff of what the edit does, as lines.
---@return string[]
function M.diff_lines(edit, encoding)
    local lines = {}
    for _, change in ipairs(changes_of(plain(edit))) do
        local bufnr = vim.uri_to_bufnr(change.uri)
        vim.fn.bufload(bufnr)
        local before = lines_of(bufnr)
        local copy = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_lines(copy, 0, -1, false, before)
        vim.lsp.util.apply_text_edits(change.edits, copy, encoding)
        local after = lines_of(copy)
        vim.api.nvim_buf_delete(copy, { force = true })
        local name = vim.fn.fnamemodify(vim.uri_to_fname(change.uri), ':~:.')
        vim.list_extend(lines, { '--- ' .. name, '+++ ' .. name })
        vim.list_extend(lines, vim.split(unified_diff(before, after), '\n', { trimempty = true }))
    end
    return lines
end

--- The annotations that ask for a confirmation.
local function questions_of(edit)
    local questions = {}
    for _, annotation in pairs(edit.changeAnnotations or {}) do
        if annotation.needsConfirmation then
            questions[#questions + 1] = annotation
        end
    end
    return questions
end

--- Asks what the edit wants asked.
local function is_confirmed(edit, encoding)
    local questions = questions_of(edit)
    if #questions == 0 then
        return true
    end
    local lines = {}
    for _, annotation in ipairs(questions) do
        lines[#lines + 1] = annotation.label
        vim.list_extend(lines, vim.split(annotation.description or '', '\n'))
    end
    lines[#lines + 1] = ''
    return preview.confirm(vim.list_extend(lines, M.diff_lines(edit, encoding)))
end

--- Has the buffer changed since the version that the edit was made for?
local function is_stale(change)
    local known = (vim.lsp.util.buf_versions or {})[vim.uri_to_bufnr(change.uri)]
    return change.version ~= nil and known ~= nil and known > change.version
end

--- Applies a workspace edit, after the user has accepted it where it asks for that.
---@return boolean applied
---@return string|nil why not
function M.apply(edit, encoding)
    if not is_confirmed(edit, encoding) then
        return false, 'discarded'
    end
    -- Only now: the text may have changed while the user was looking.
    for _, change in ipairs(changes_of(edit)) do
        if is_stale(change) then
            vim.notify('kernelskill: the buffer has changed meanwhile; nothing was applied', vim.log.levels.WARN)
            return false, 'the buffer has changed meanwhile'
        end
    end
    local ok, problem = pcall(vim.lsp.util.apply_workspace_edit, plain(edit), encoding)
    return ok, not ok and tostring(problem) or nil
end

--- The handler of workspace/applyEdit.
function M.on_apply_edit(_, params, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    local applied, reason = M.apply(params.edit, client and client.offset_encoding or 'utf-16')
    return { applied = applied, failureReason = reason }
end

return M
