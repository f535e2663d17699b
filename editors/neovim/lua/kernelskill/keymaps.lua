--- The keys that current Neovim gives every buffer with a language server, for versions that do not yet.
local M = {}

local maps = {
    { since = 'nvim-0.10', modes = { 'n' }, keys = 'K', call = 'buf.hover', desc = 'Hover' },
    { since = 'nvim-0.11', modes = { 'n', 'x' }, keys = 'gra', call = 'buf.code_action', desc = 'Code actions' },
    { since = 'nvim-0.12', modes = { 'n' }, keys = 'grx', call = 'codelens.run', desc = 'Run a code lens' },
}

--- Sets the keys that are not mapped yet.
function M.set(bufnr)
    for _, map in ipairs(maps) do
        local modes = vim.tbl_filter(function(mode)
            return vim.fn.maparg(map.keys, mode) == ''
        end, map.modes)
        if vim.fn.has(map.since) == 0 and #modes > 0 then
            vim.keymap.set(modes, map.keys, function()
                local module, name = map.call:match('(%w+)%.([%w_]+)')
                vim.lsp[module][name]()
            end, { buffer = bufnr, desc = 'KernelSkill: ' .. map.desc })
        end
    end
end

return M
