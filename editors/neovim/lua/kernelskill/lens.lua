--- Code lenses of a buffer, drawn with Neovim's own functions. From 0.12 on it keeps them up to date itself
--- (vim.lsp.codelens.enable), and nothing here is used but M.is_native.
local compat = require('kernelskill.compat')

local M = {}

M.is_native = vim.lsp.codelens.enable ~= nil

--- Neovim names its namespace so in all versions that need this file.
---@return number
function M.namespace(client_id)
    return vim.api.nvim_create_namespace('vim_lsp_codelens:' .. client_id)
end

--- Takes away what a client has drawn.
function M.clear(client_id, bufnr)
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace(client_id), 0, -1)
    vim.lsp.codelens.save({}, bufnr, client_id)
end

--- Asks for the lenses and draws them. Not through vim.lsp.codelens.refresh: that waits for ever after an answer that
--- a server which crashed did not give, and up to 0.9 knows the current buffer only.
function M.refresh(client, bufnr)
    compat.request(client, 'textDocument/codeLens', {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
    }, function(err, lenses, context)
        if err or not vim.api.nvim_buf_is_loaded(bufnr) then
            return -- an answer for a text that has changed: the change asks again
        end
        if vim.tbl_isempty(lenses or {}) then
            M.clear(client.id, bufnr)
        else
            vim.lsp.codelens.on_codelens(nil, lenses, context)
        end
    end, bufnr)
end

return M
