--- The few calls that changed between Neovim 0.7 and today, each under one name.
local M = {}

---@param bufnr number
---@return table[] clients named kernelskill that are attached to the buffer
function M.clients(bufnr)
    if vim.lsp.get_clients then
        return vim.lsp.get_clients({ name = 'kernelskill', bufnr = bufnr })
    end
    local found = {}
    for _, client in pairs(vim.lsp.buf_get_clients(bufnr)) do
        if client.name == 'kernelskill' then
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

function M.stop(client)
    if vim.fn.has('nvim-0.11') == 1 then
        client:stop()
    else
        client.stop()
    end
end

--- Does the server announce it? `provider` is a name such as 'codeLensProvider'.
function M.supports(client, provider)
    local capability = client.server_capabilities and client.server_capabilities[provider]
    return capability ~= nil and capability ~= false
end

--- Directory of `start` or above that holds one of `names`; nil when none does.
function M.find_upward(names, start)
    local directory = start
    while directory and directory ~= '' do
        for _, name in ipairs(names) do
            if vim.loop.fs_stat(directory .. '/' .. name) then
                return directory
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

return M
