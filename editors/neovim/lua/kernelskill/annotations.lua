--- Keeps what is drawn into a buffer true to its text: code lenses and hints, where Neovim does not do it itself.
local compat = require('kernelskill.compat')
local config = require('kernelskill.config')

local M = {}

--- A pause in typing that is long enough to ask anew, in milliseconds.
local pause = 200

--- The drawers that this Neovim and the options need.
local function drawers()
    local options = config.get()
    local needed = {}
    for option, name in pairs({ code_lens = 'lens', inlay_hints = 'hints' }) do
        local drawer = require('kernelskill.' .. name)
        if options[option] and not drawer.is_native then
            needed[#needed + 1] = drawer
        end
    end
    return needed
end

local function refresh(bufnr)
    for _, client in ipairs(compat.clients(bufnr)) do
        for _, drawer in ipairs(drawers()) do
            drawer.refresh(client, bufnr)
        end
    end
end

--- Draws now, and again after each change of the text while the client is attached.
function M.follow(client, bufnr)
    if #drawers() == 0 then
        return
    end
    refresh(bufnr)
    local timer = vim.loop.new_timer()
    local function is_over()
        return not vim.lsp.buf_is_attached(bufnr, client.id)
    end
    local function close()
        if not timer:is_closing() then
            timer:close()
        end
    end
    vim.api.nvim_buf_attach(bufnr, false, {
        on_lines = function()
            if is_over() then
                close()
                return true
            end
            timer:start(pause, 0, vim.schedule_wrap(function()
                if vim.api.nvim_buf_is_loaded(bufnr) then
                    refresh(bufnr)
                end
            end))
        end,
        on_reload = function()
            refresh(bufnr)
        end,
        on_detach = close,
    })
end

--- Takes away what a client that is gone has drawn.
function M.clear(client_id, bufnr)
    for _, name in ipairs({ 'lens', 'hints' }) do
        local drawer = require('kernelskill.' .. name)
        if not drawer.is_native then
            drawer.clear(client_id, bufnr)
        end
    end
end

--- The handler of the server's request to ask anew, after a profile for instance, for code lenses or hints.
---@param name string 'lens' or 'hints'
function M.on_refresh_of(name)
    return function(_, _, context)
        local client = vim.lsp.get_client_by_id(context.client_id)
        for _, bufnr in ipairs(client and vim.tbl_keys(client.attached_buffers) or {}) do
            require('kernelskill.' .. name).refresh(client, bufnr)
        end
        return vim.NIL
    end
end

return M
