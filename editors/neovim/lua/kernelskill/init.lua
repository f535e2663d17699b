--- The plug-in's entry: it starts by itself, and has the functions that :help kernelskill names.
local compat = require('kernelskill.compat')
local config = require('kernelskill.config')

local M = {}

--- Sets up a buffer, beyond Neovim's own defaults. Runs for each attachment.
local function on_attach(client, bufnr)
    local options = config.get()
    require('kernelskill.server').attached(client, bufnr)
    if options.inlay_hints and require('kernelskill.hints').is_native then
        vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
    end
    if options.code_lens and require('kernelskill.lens').is_native then
        vim.lsp.codelens.enable(true, { bufnr = bufnr })
    end
    require('kernelskill.annotations').follow(client, bufnr)
    if options.keymaps then
        require('kernelskill.keymaps').set(bufnr)
    end
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

--- The capabilities of Neovim, and those that this plug-in adds: edits that ask for it are shown before they are applied, and what
--- is drawn into a buffer is asked for anew. Profiles of programs have a window. Edits come by workspace/applyEdit alone, never by codeAction/resolve,
--- which Neovim's own menu would apply without a look.
local function capabilities()
    local all = vim.lsp.protocol.make_client_capabilities()
    all.workspace.workspaceEdit.documentChanges = true
    all.workspace.workspaceEdit.changeAnnotationSupport = { groupsOnLabel = false }
    all.workspace.codeLens = { refreshSupport = true }
    all.workspace.inlayHint = { refreshSupport = true }
    -- Newer versions put their own in for what is absent.
    all.textDocument.codeAction.resolveSupport = { properties = { 'command' } }
    all.experimental = vim.tbl_deep_extend('force', all.experimental or {}, { kernelskill = { programProfiles = true } })
    return all
end

local function handlers()
    local own = {
        ['workspace/applyEdit'] = function(...)
            return require('kernelskill.edits').on_apply_edit(...)
        end,
        ['kernelskill/programProfiled'] = function(...)
            return require('kernelskill.commands').on_program_profiled(...)
        end,
        ['$/progress'] = require('kernelskill.progress').on_progress,
    }
    local refresh_of = require('kernelskill.annotations').on_refresh_of
    own['workspace/inlayHint/refresh'] = refresh_of('hints')
    if not require('kernelskill.lens').is_native then
        own['workspace/codeLens/refresh'] = refresh_of('lens')
    end
    return own
end

--- Name, command and settings of the client, in the form of vim.lsp.start and vim.lsp.config.
---@return table
function M.client_config()
    local options = config.get()
    local command = { require('kernelskill.binary').wanted(), 'lsp' }
    vim.list_extend(command, options.arguments)
    -- An empty table would be sent as a list.
    local settings = next(options.settings) and options.settings or vim.empty_dict()
    return {
        name = 'kernelskill',
        cmd = command,
        filetypes = { 'cuda' },
        root_dir = function(bufnr, on_dir)
            if not require('kernelskill.server').is_missing(vim.lsp.config.kernelskill.cmd) then
                on_dir(compat.root_of(vim.api.nvim_buf_get_name(bufnr)))
            end
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
        handlers = handlers(),
        on_attach = on_attach,
        on_exit = require('kernelskill.server').on_exit,
        commands = require('kernelskill.commands').client_commands,
    }
end

--- Starts the server for a buffer, or attaches the buffer to the one that runs for its workspace.
---@param bufnr number|nil 0 or nil: the current one
---@return number|nil client id; nil when there is no server, which the user is told
function M.attach(bufnr)
    bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
    return require('kernelskill.server').attach(bufnr)
end

local function autostart(bufnr)
    if config.get().autostart then
        M.attach(bufnr)
    end
end

--- Starts the server by itself for CUDA buffers, those already open included.
function M.enable()
    vim.api.nvim_set_hl(0, 'KernelSkillHint', { default = true, link = 'Comment' })
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
    require('kernelskill.server').restart()
end

--- A word on the server for the status line; empty for buffers that are not CUDA.
---@param bufnr number|nil 0 or nil: the current one
---@return string
function M.status(bufnr)
    return require('kernelskill.status').text(bufnr)
end

return M
