--- Commands of the server: running them, and cancelling those that run.
local compat = require('kernelskill.compat')

local M = {}

local serial = 0
--- What runs now: the client by the token of its progress.
local running = {}

--- The client of a buffer; without one the user is told.
function M.client_of(bufnr)
    local client = compat.clients(bufnr)[1]
    if not client then
        vim.notify('kernelskill: no server for this buffer; see :checkhealth kernelskill', vim.log.levels.WARN)
    end
    return client
end

--- Runs a command of the server for the buffer and calls back with its result, or with nil and the error, which the
--- user has been told. The progress is named, so that M.cancel() can ask for its end.
---@param callback fun(result: any, err: table|nil)
function M.run(bufnr, command, argument, callback)
    local client = M.client_of(bufnr)
    if not client then
        return
    end
    serial = serial + 1
    local token = 'kernelskill.nvim/' .. serial
    running[token] = client
    local params = { command = command, arguments = { argument }, workDoneToken = token }
    compat.request(client, 'workspace/executeCommand', params, function(err, result)
        running[token] = nil
        if err then
            vim.notify('kernelskill: ' .. err.message, vim.log.levels.ERROR)
        end
        callback(result, err)
    end, bufnr)
end

--- Asks the server to end what M.run() has started. A search that is cancelled changes no text.
---@return number how much that is
function M.cancel()
    local count = 0
    for token, client in pairs(running) do
        compat.notify(client, 'window/workDoneProgress/cancel', { token = token })
        count = count + 1
    end
    return count
end

return M
