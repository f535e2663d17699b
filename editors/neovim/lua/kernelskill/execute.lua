--- Requests that may take a while: sending them, and cancelling those that run.
local compat = require('kernelskill.compat')

local M = {}

local serial = 0
--- The requests that run now: each client by the token of its progress.
local running = {}

--- The client of a buffer; without one the user is told.
function M.client_of(bufnr)
    local client = compat.clients(bufnr)[1]
    if not client then
        vim.notify('kernelskill: no server for this buffer; see :checkhealth kernelskill', vim.log.levels.WARN)
    end
    return client
end

--- What the user types for what the server proposes as a remedy.
local remedies = {
    ['kernelskill.pinLaunch'] = ':KernelSkill pin',
    ['kernelskill.runProgram'] = ':KernelSkill program run',
    doctor = ':checkhealth kernelskill',
}

--- Tells of an error in one message, with what can be done about it. One that the user has caused is none.
local function tell(err)
    local cancelled = -32800
    if err.code == cancelled then
        return vim.notify('kernelskill: cancelled', vim.log.levels.INFO)
    end
    local typed = {}
    for _, remedy in ipairs((type(err.data) == 'table' and err.data.remedies) or {}) do
        typed[#typed + 1] = remedies[remedy.command or remedy.client]
    end
    local what = #typed > 0 and (' (' .. table.concat(typed, ', ') .. ')') or ''
    vim.notify('kernelskill: ' .. err.message .. what, vim.log.levels.ERROR)
end

--- Sends a request for the buffer and calls back with its result, or with nil and the error, which the user has been
--- told. The progress is named, so that M.cancel() can ask for its end.
---@param callback fun(result: any, err: table|nil)
function M.request(bufnr, method, params, callback)
    local client = M.client_of(bufnr)
    if not client then
        return
    end
    serial = serial + 1
    local token = 'kernelskill.nvim/' .. serial
    running[token] = client
    params = vim.tbl_extend('force', params, { workDoneToken = token })
    compat.request(client, method, params, function(err, result)
        running[token] = nil
        if err then
            tell(err)
        end
        callback(result, err)
    end, bufnr)
end

--- Runs a command of the server; as M.request().
function M.run(bufnr, command, argument, callback)
    M.request(bufnr, 'workspace/executeCommand', { command = command, arguments = { argument } }, callback)
end

--- Asks the server to end what M.request() has started. A search that is cancelled changes no text.
---@return number how much that is
function M.cancel()
    local count = 0
    for token, client in pairs(running) do
        compat.notify(client, 'window/workDoneProgress/cancel', { token = token })
        count = count + 1
    end
    return count
end

--- A client is gone, and what it ran with it.
function M.forget(client_id)
    for token, client in pairs(running) do
        if client.id == client_id then
            running[token] = nil
        end
    end
end

return M
