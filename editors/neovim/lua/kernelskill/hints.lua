--- Hints of a buffer: Neovim's inlay hints where it has them, from 0.10 on, else text behind the line.
local compat = require('kernelskill.compat')

local M = {}

M.is_native = vim.lsp.inlay_hint ~= nil
M.namespace = vim.api.nvim_create_namespace('kernelskill.hints')

local function label_of(hint)
    if type(hint.label) == 'string' then
        return hint.label
    end
    return table.concat(vim.tbl_map(function(part)
        return part.value
    end, hint.label))
end

local function draw(bufnr, hints)
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
    local by_line = {}
    for _, hint in ipairs(hints) do
        local line = hint.position.line
        by_line[line] = by_line[line] or {}
        table.insert(by_line[line], label_of(hint))
    end
    for line, labels in pairs(by_line) do
        vim.api.nvim_buf_set_extmark(bufnr, M.namespace, line, 0, {
            virt_text = { { table.concat(labels, ', '), 'KernelSkillHint' } },
            hl_mode = 'combine',
        })
    end
end

function M.clear(_, bufnr)
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
end

--- Off and on again: when it only asks anew, Neovim may keep what it drew while it waited for the answer.
local function refresh_native(bufnr)
    if vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then
        vim.lsp.inlay_hint.enable(false, { bufnr = bufnr })
        vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
    end
end

--- Asks for the hints and draws them.
function M.refresh(client, bufnr)
    if M.is_native then
        return refresh_native(bufnr)
    end
    local asked = vim.api.nvim_buf_get_changedtick(bufnr)
    compat.request(client, 'textDocument/inlayHint', {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
        range = compat.whole_buffer(bufnr),
    }, function(err, hints)
        -- An answer for a text that has changed is no use: the change asks again.
        if err or not vim.api.nvim_buf_is_loaded(bufnr) or vim.api.nvim_buf_get_changedtick(bufnr) ~= asked then
            return
        end
        draw(bufnr, hints or {})
    end, bufnr)
end

return M
