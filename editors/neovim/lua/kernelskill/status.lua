--- A word on the server for the status line.
local compat = require('kernelskill.compat')

local M = {}

local function word(bufnr)
    local client = compat.clients(bufnr)[1]
    if not client then
        return require('kernelskill.server').trouble(bufnr) or 'no server'
    end
    if client.initialized == false then
        return 'starting'
    end
    return require('kernelskill.progress').text()
end

--- "kernelskill", or "kernelskill: Profiling 'saxpy' (40%)"; empty for buffers that are not CUDA.
---@param bufnr number|nil 0 or nil: the current one
---@return string
function M.text(bufnr)
    bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
    if vim.bo[bufnr].filetype ~= 'cuda' then
        return ''
    end
    local said = word(bufnr)
    return 'kernelskill' .. (said and ': ' .. said or '')
end

return M
