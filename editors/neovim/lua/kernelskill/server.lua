--- The server's life: started for a workspace, started again when it has crashed, later each time.
local annotations = require('kernelskill.annotations')
local binary = require('kernelskill.binary')
local compat = require('kernelskill.compat')
local execute = require('kernelskill.execute')
local progress = require('kernelskill.progress')

local M = {}

--- After a crash the server is started again after so many milliseconds, twice as many after the next one.
M.first_delay = 500
--- After so many crashes with no calm between them it is not.
M.most_crashes = 5
--- A server that has run for so many milliseconds was all right.
M.calm = 60000

--- Servers that run: { root, buffers, began } by client.
local records = {}
--- Crashes of late, and what follows: { count, state = 'waiting'|'given up' } by workspace.
local crashes = {}

--- The configuration of the client for vim.lsp.start: Neovim's own place for it where there is one, so that what the
--- user added by vim.lsp.config() counts.
local function configuration()
    if not vim.lsp.config then
        return require('kernelskill').client_config()
    end
    vim.lsp.config('kernelskill', {}) -- adds nothing, but has lsp/kernelskill.lua read again: options may have changed
    return vim.deepcopy(vim.lsp.config.kernelskill)
end

local function start(bufnr, config)
    if vim.lsp.start then
        return vim.lsp.start(config, { bufnr = bufnr })
    end
    for id, record in pairs(records) do
        local client = vim.lsp.get_client_by_id(id)
        if record.root == config.root_dir and client and not client.is_stopped() then
            vim.lsp.buf_attach_client(bufnr, id)
            return id
        end
    end
    config.workspace_folders = { { uri = vim.uri_from_fname(config.root_dir), name = config.root_dir } }
    local id = vim.lsp.start_client(config)
    if id then
        vim.lsp.buf_attach_client(bufnr, id)
    end
    return id
end

local function remember(id, root, bufnr)
    records[id] = records[id] or { root = root, buffers = {}, began = vim.loop.now() }
    records[id].buffers[bufnr] = true
end

--- Tells the user, once, that there is no server to start, and what to do.
---@return boolean there is none
function M.is_missing(command)
    if type(command) ~= 'table' or vim.fn.executable(command[1]) == 1 then
        return false
    end
    local found, problem = binary.find()
    problem = found and ("'%s' is not executable"):format(command[1]) or problem
    vim.notify_once('kernelskill: ' .. problem, vim.log.levels.WARN)
    return true
end

--- Starts the server for a buffer, or attaches the buffer to the one that runs for its workspace.
---@param bufnr number
---@return number|nil client id; nil when there is no server, which the user is told
function M.attach(bufnr)
    local attached = compat.clients(bufnr)[1]
    if attached then
        return attached.id
    end
    local file = vim.api.nvim_buf_get_name(bufnr)
    if file == '' or file:match('^%a[%w+.-]+://') then
        return nil -- no file on disk, so nothing to resolve includes against
    end
    local config = configuration()
    if M.is_missing(config.cmd) then
        return nil
    end
    config.root_dir = compat.root_of(file)
    config.filetypes = nil
    local id = start(bufnr, config)
    if id then
        remember(id, config.root_dir, bufnr)
    end
    return id
end

--- A buffer has been attached, by whomever.
function M.attached(client, bufnr)
    remember(client.id, client.config.root_dir, bufnr)
    local crash = crashes[client.config.root_dir]
    if crash then
        crash.state = nil
    end
end

local function attach_again(root, buffers)
    for bufnr in pairs(buffers) do
        if vim.api.nvim_buf_is_valid(bufnr) and vim.api.nvim_buf_is_loaded(bufnr) then
            M.attach(bufnr)
        end
    end
    if crashes[root] and crashes[root].state == 'waiting' then
        crashes[root].state = nil
    end
end

--- Was the end wanted? The server ended by itself with status 0, or by a signal that asked for it.
local function is_asked_for(code, signal)
    return code == 0 and (signal == 0 or signal == 15)
end

local function on_crash(record, code, signal)
    local crash = crashes[record.root]
    if not crash or vim.loop.now() - record.began > M.calm then
        crash = { count = 0 }
        crashes[record.root] = crash
    end
    crash.count = crash.count + 1
    local how = signal ~= 0 and 'signal ' .. signal or 'exit code ' .. code
    if crash.count >= M.most_crashes then
        crash.state = 'given up'
        vim.notify(
            ('kernelskill: the server crashed %d times (%s) and stays stopped. :KernelSkill log holds its messages, '):format(
                crash.count,
                how
            ) .. ':KernelSkill restart starts it again',
            vim.log.levels.ERROR
        )
        return
    end
    if crash.count == 1 then
        vim.notify(
            ('kernelskill: the server crashed (%s) and is started again; :KernelSkill log holds its messages'):format(how),
            vim.log.levels.WARN
        )
    end
    crash.state = 'waiting'
    vim.defer_fn(function()
        if crashes[record.root] == crash and crash.state == 'waiting' then
            attach_again(record.root, record.buffers)
        end
    end, M.first_delay * 2 ^ (crash.count - 1))
end

--- A server has ended. May be called where Neovim's functions may not.
function M.on_exit(code, signal, client_id)
    vim.schedule(function()
        local record = records[client_id]
        records[client_id] = nil
        execute.forget(client_id)
        progress.forget(client_id)
        if not record or vim.v.exiting ~= vim.NIL then
            return
        end
        for bufnr in pairs(record.buffers) do
            if vim.api.nvim_buf_is_loaded(bufnr) then
                annotations.clear(client_id, bufnr)
            end
        end
        if not is_asked_for(code, signal) then
            on_crash(record, code, signal)
        end
    end)
end

--- The text of the status line for the buffer's workspace when no server is attached.
---@return string|nil
function M.trouble(bufnr)
    local file = vim.api.nvim_buf_get_name(bufnr)
    local crash = file ~= '' and crashes[compat.root_of(file)]
    if not crash or not crash.state then
        return nil
    end
    return crash.state == 'waiting' and 'crashed, starting again' or 'crashed'
end

--- Stops every server and starts one for each buffer that had one, or was waiting for one.
function M.restart()
    local buffers = {}
    for _, record in pairs(records) do
        buffers = vim.tbl_extend('force', buffers, record.buffers)
    end
    if next(buffers) == nil then
        for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
            buffers[bufnr] = vim.bo[bufnr].filetype == 'cuda' or nil
        end
    end
    crashes = {}
    compat.stop_all()
    attach_again(nil, buffers)
end

return M
