--- Code lenses of a buffer, in a line of their own above what they are about. From 0.12 on Neovim draws them there and
--- keeps them up to date itself (vim.lsp.codelens.enable), and nothing here is used but M.is_native.
local compat = require('kernelskill.compat')

local M = {}

M.is_native = vim.lsp.codelens.enable ~= nil
M.namespace = vim.api.nvim_create_namespace('kernelskill.lens')

--- Takes away what a client has drawn, and what vim.lsp.codelens.run() would find.
function M.clear(client_id, bufnr)
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
    vim.lsp.codelens.save({}, bufnr, client_id)
end

local function draw(bufnr, lenses)
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
    local by_line = {}
    for _, lens in ipairs(lenses) do
        local line = lens.range.start.line
        if not by_line[line] then
            local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ''
            by_line[line] = { { text:match('^%s*'), 'LspCodeLens' } }
        else
            table.insert(by_line[line], { ' | ', 'LspCodeLensSeparator' })
        end
        table.insert(by_line[line], { lens.command.title, 'LspCodeLens' })
    end
    for line, chunks in pairs(by_line) do
        -- A virtual line above the first one is out of sight.
        local place = line == 0 and { virt_text = chunks } or { virt_lines = { chunks }, virt_lines_above = true }
        vim.api.nvim_buf_set_extmark(bufnr, M.namespace, line, 0, place)
    end
end

--- Fills in the commands and calls back with the lenses that have one, in their order.
local function resolve(client, bufnr, lenses, callback)
    local left = #lenses
    if left == 0 then
        return callback({})
    end
    for _, lens in ipairs(lenses) do
        compat.request(client, 'codeLens/resolve', lens, function(_, resolved)
            lens.command = resolved and resolved.command
            left = left - 1
            if left == 0 then
                callback(vim.tbl_filter(function(each)
                    return each.command ~= nil
                end, lenses))
            end
        end, bufnr)
    end
end

--- Asks for the lenses and draws them.
function M.refresh(client, bufnr)
    local asked = vim.api.nvim_buf_get_changedtick(bufnr)
    local function is_stale()
        return not vim.api.nvim_buf_is_loaded(bufnr) or vim.api.nvim_buf_get_changedtick(bufnr) ~= asked
    end
    compat.request(client, 'textDocument/codeLens', {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
    }, function(err, lenses)
        -- An answer for a text that has changed is no use: the change asks again.
        if err or is_stale() then
            return
        end
        resolve(client, bufnr, lenses or {}, function(resolved)
            if not is_stale() then
                vim.lsp.codelens.save(resolved, bufnr, client.id)
                draw(bufnr, resolved)
            end
        end)
    end, bufnr)
end

return M
