--- Finds the kernelskill executable: the explicit path, then PATH, then the one beside this plugin.
local M = {}

local function is_executable(path)
    return vim.fn.executable(path) == 1
end

--- Folders above this file that may hold a built or bundled server.
local function bundled()
    local source = debug.getinfo(1, 'S').source:sub(2)
    local root = vim.fn.fnamemodify(source, ':p:h:h:h')
    return {
        root .. '/bin/kernelskill', -- a release archive
        vim.fn.fnamemodify(root, ':h:h') .. '/build/bin/kernelskill', -- a checkout
    }
end

--- The executable and where it came from, or nil and what to do.
---@return string|nil path
---@return string origin_or_problem
function M.find()
    local explicit = require('kernelskill.config').get().path
    if explicit and explicit ~= '' then
        explicit = vim.fn.expand(explicit)
        if is_executable(explicit) then
            return explicit, 'vim.g.kernelskill.path'
        end
        -- An explicit path that is wrong is never replaced by a guess.
        return nil, ("vim.g.kernelskill.path is '%s', which is not executable; set it right, then :KernelSkill restart"):format(explicit)
    end
    local on_path = vim.fn.exepath('kernelskill')
    if on_path ~= '' then
        return on_path, 'PATH'
    end
    for _, candidate in ipairs(bundled()) do
        if is_executable(candidate) then
            return candidate, 'beside the plugin'
        end
    end
    return nil,
        'no kernelskill on PATH: install it or set vim.g.kernelskill = { path = ... }; see :checkhealth kernelskill'
end

--- The executable, or where it should be.
---@return string
function M.wanted()
    return (M.find()) or require('kernelskill.config').get().path or 'kernelskill'
end

return M
