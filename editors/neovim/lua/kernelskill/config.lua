--- The user's options: vim.g.kernelskill over the defaults. Read anew at each use, so that a change
--- made after start-up counts.
local M = {}

M.defaults = {
    --- Absolute path of the executable; nil: PATH, then the copy beside this plugin.
    path = nil,
    --- Arguments after `lsp`, e.g. { '--log-level', 'debug' }.
    arguments = {},
    --- Start for every buffer of filetype cuda.
    autostart = true,
    --- Show code lenses over kernels.
    code_lens = true,
    --- Show hints at memory accesses: inlay hints, behind the line before Neovim 0.10.
    inlay_hints = true,
    --- K, gra and grx in CUDA buffers, as newer versions of Neovim have them; never over a mapping of yours.
    keymaps = true,
    --- Show work-done progress in the message area.
    progress = true,
    --- Folders whose kernels you trust to be compiled and run. In others the server asks before it does.
    trusted_folders = {},
    --- The server's settings, the part below `kernelskill`, e.g. { profile = { onSave = true } }.
    settings = {},
}

---@return table
function M.get()
    local user = vim.g.kernelskill
    if type(user) ~= 'table' then
        user = {}
    end
    return vim.tbl_deep_extend('force', M.defaults, user)
end

return M
