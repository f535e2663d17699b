--- The few calls that changed between Neovim 0.7 and today, each under one name.
local M = {}

--- Has the client been told to stop? It stays in Neovim's list until its process is gone.
local function is_stopping(client)
    if vim.fn.has('nvim-0.11') == 1 then
        return client:is_stopped()
    end
    return client.is_stopped()
end

---@param bufnr number
---@return table[] clients named kernelskill that are attached to the buffer and at work
function M.clients(bufnr)
    local attached = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = bufnr })
        or vim.lsp.buf_get_clients(bufnr)
    local found = {}
    for _, client in pairs(attached) do
        if client.name == 'kernelskill' and not is_stopping(client) then
            found[#found + 1] = client
        end
    end
    return found
end

---@return table[] every client named kernelskill
function M.all_clients()
    if vim.lsp.get_clients then
        return vim.lsp.get_clients({ name = 'kernelskill' })
    end
    return vim.tbl_filter(function(client)
        return client.name == 'kernelskill'
    end, vim.lsp.get_active_clients())
end

--- client:request(), which was client.request() before 0.11.
function M.request(client, method, params, handler, bufnr)
    if vim.fn.has('nvim-0.11') == 1 then
        return client:request(method, params, handler, bufnr)
    end
    return client.request(method, params, handler, bufnr)
end

--- client:notify(), which was client.notify() before 0.11.
function M.notify(client, method, params)
    if vim.fn.has('nvim-0.11') == 1 then
        return client:notify(method, params)
    end
    return client.notify(method, params)
end

local function stop(client, is_forced)
    if vim.fn.has('nvim-0.11') == 1 then
        client:stop(is_forced)
    else
        client.stop(is_forced)
    end
end

--- Ends every server and waits until they are gone: politely first, then not.
function M.stop_all()
    for _, is_forced in ipairs({ false, true }) do
        for _, client in ipairs(M.all_clients()) do
            stop(client, is_forced)
        end
        local is_gone = vim.wait(3000, function()
            return #M.all_clients() == 0
        end, 20)
        if is_gone then
            return
        end
    end
end

--- Positions of the whole buffer; an end past the last line is cut by the server, as the protocol says.
function M.whole_buffer(bufnr)
    return {
        start = { line = 0, character = 0 },
        ['end'] = { line = vim.api.nvim_buf_line_count(bufnr), character = 0 },
    }
end

--- The home folder, and one that any user may write to, as /tmp: a file tried there leaves a `.kernelskill` behind, which
--- must not make one workspace of all the projects below. The server's command line has the same rule.
local function is_for_unrelated_folders(directory)
    local status = vim.loop.fs_stat(directory)
    local is_open_to_all = status and math.floor(status.mode / 2) % 2 == 1
    return is_open_to_all or directory == vim.loop.os_homedir()
end

--- Directory of `start` or above that holds one of `names`; nil when none does.
local function find_upward(names, start)
    local directory = start
    while directory and directory ~= '' do
        if directory == start or not is_for_unrelated_folders(directory) then
            for _, name in ipairs(names) do
                if vim.loop.fs_stat(directory .. '/' .. name) then
                    return directory
                end
            end
        end
        local parent = vim.fn.fnamemodify(directory, ':h')
        if parent == directory then
            return nil
        end
        directory = parent
    end
    return nil
end

local root_markers = { 'compile_commands.json', 'compile_flags.txt', '.kernelskill', '.clangd', '.git' }

--- The workspace of a file: the nearest folder above it with one of the markers, else its own folder.
---@param file string absolute path
---@return string
function M.root_of(file)
    local directory = vim.fn.fnamemodify(file, ':p:h')
    return find_upward(root_markers, directory) or directory
end

return M
