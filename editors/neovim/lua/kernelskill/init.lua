--- Starting the server and attaching buffers to it.
local compat = require('kernelskill.compat')
local config = require('kernelskill.config')

local M = {}

local root_markers = { 'compile_commands.json', 'compile_flags.txt', '.kernelskill', '.clangd', '.git' }

--- The workspace of a file: the nearest folder above it with one of the markers, else its own folder.
---@param file string absolute path
---@return string
function M.root_of(file)
    local directory = vim.fn.fnamemodify(file, ':p:h')
    return compat.find_upward(root_markers, directory) or directory
end

--- Code lenses of a buffer, fetched and shown. Neovim before 0.10 does that for the current buffer only.
local function refresh_lenses(bufnr)
    if vim.fn.has('nvim-0.10') == 1 then
        vim.lsp.codelens.refresh({ bufnr = bufnr })
    elseif bufnr == vim.api.nvim_get_current_buf() then
        vim.lsp.codelens.refresh()
    end
end

local function enable_lenses(bufnr)
    if vim.lsp.codelens.enable then
        vim.lsp.codelens.enable(true, { bufnr = bufnr }) -- newer ones refresh by themselves
        return
    end
    local group = vim.api.nvim_create_augroup('kernelskill_lens_' .. bufnr, { clear = true })
    vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorHold', 'InsertLeave', 'BufWritePost' }, {
        group = group,
        buffer = bufnr,
        callback = function()
            if #compat.clients(bufnr) == 0 then
                return true -- the server is gone, and so is this autocommand
            end
            refresh_lenses(bufnr)
        end,
    })
    refresh_lenses(bufnr)
end

--- What a buffer gets besides Neovim's own defaults. Runs for each attachment.
local function on_attach(client, bufnr)
    local options = config.get()
    if options.inlay_hints and vim.lsp.inlay_hint and compat.supports(client, 'inlayHintProvider') then
        vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
    end
    if options.code_lens and compat.supports(client, 'codeLensProvider') then
        enable_lenses(bufnr)
    end
    require('kernelskill.progress').enable()
end

--- Is the folder one of trusted_folders, or in one?
---@param folder string absolute path
---@return boolean
function M.is_trusted(folder)
    for _, trusted in ipairs(config.get().trusted_folders) do
        local root = vim.fn.fnamemodify(vim.fn.expand(trusted), ':p'):gsub('/+$', '')
        if folder == root or vim.startswith(folder, root .. '/') then
            return true
        end
    end
    return false
end

--- What Neovim can do, and what edits.lua adds: it shows an edit that asks for it before it applies it. Edits come by
--- workspace/applyEdit alone, never by codeAction/resolve, which Neovim's own menu would apply without a look.
local function capabilities()
    local all = vim.lsp.protocol.make_client_capabilities()
    all.workspace.workspaceEdit.documentChanges = true
    all.workspace.workspaceEdit.changeAnnotationSupport = { groupsOnLabel = false }
    all.textDocument.codeAction.resolveSupport = nil
    return all
end

--- Name, command and settings of the client, in the form of vim.lsp.start and vim.lsp.config.
---@return table
function M.client_config()
    local options = config.get()
    local command = { require('kernelskill.binary').find() or 'kernelskill', 'lsp' }
    vim.list_extend(command, options.arguments)
    -- An empty table would be sent as a list.
    local settings = next(options.settings) and options.settings or vim.empty_dict()
    return {
        name = 'kernelskill',
        cmd = command,
        filetypes = { 'cuda' },
        root_dir = function(bufnr, on_dir)
            on_dir(M.root_of(vim.api.nvim_buf_get_name(bufnr)))
        end,
        init_options = settings,
        settings = { kernelskill = settings },
        before_init = function(params)
            local folder = params.rootUri and vim.uri_to_fname(params.rootUri)
            if folder and M.is_trusted(folder) then
                params.initializationOptions =
                    vim.tbl_extend('force', params.initializationOptions or {}, { trusted = true })
            end
        end,
        capabilities = capabilities(),
        handlers = {
            ['workspace/applyEdit'] = function(...)
                return require('kernelskill.edits').on_apply_edit(...)
            end,
        },
        on_attach = on_attach,
        commands = require('kernelskill.commands').client_commands,
    }
end

--- Starts the server for a buffer, or attaches the buffer to the one that runs for its workspace.
---@param bufnr number|nil 0 or nil: the current one
---@return number|nil client id; nil when there is no server, which the user is told
function M.attach(bufnr)
    bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
    local attached = compat.clients(bufnr)[1]
    if attached then
        return attached.id
    end
    local file = vim.api.nvim_buf_get_name(bufnr)
    if file == '' or file:match('^%a[%w+.-]+://') then
        return nil -- no file on disk, so nothing to resolve includes against
    end
    local binary, problem = require('kernelskill.binary').find()
    if not binary then
        vim.notify_once('kernelskill: ' .. problem, vim.log.levels.WARN)
        return nil
    end

    local client = M.client_config()
    client.root_dir = M.root_of(file)
    client.filetypes = nil
    if vim.lsp.start then
        return vim.lsp.start(client, { bufnr = bufnr })
    end
    for _, running in ipairs(compat.all_clients()) do
        if running.config.root_dir == client.root_dir then
            vim.lsp.buf_attach_client(bufnr, running.id)
            return running.id
        end
    end
    client.workspace_folders = { { uri = vim.uri_from_fname(client.root_dir), name = client.root_dir } }
    local id = vim.lsp.start_client(client)
    if id then
        vim.lsp.buf_attach_client(bufnr, id)
    end
    return id
end

local function autostart(bufnr)
    if config.get().autostart then
        M.attach(bufnr)
    end
end

--- Starts the server by itself for CUDA buffers, those already open included.
function M.enable()
    local group = vim.api.nvim_create_augroup('kernelskill', { clear = true })
    vim.api.nvim_create_autocmd('FileType', {
        group = group,
        pattern = 'cuda',
        callback = function(event)
            autostart(event.buf)
        end,
    })
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == 'cuda' then
            autostart(bufnr)
        end
    end
end

--- Stops every server and starts one for each CUDA buffer that was attached.
function M.restart()
    local buffers = {}
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_is_loaded(bufnr) and #compat.clients(bufnr) > 0 then
            buffers[#buffers + 1] = bufnr
        end
    end
    if #buffers == 0 then
        buffers = { vim.api.nvim_get_current_buf() }
    end
    compat.stop_all()
    for _, bufnr in ipairs(buffers) do
        M.attach(bufnr)
    end
end

return M
