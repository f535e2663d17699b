--- The commands behind the server's code lenses, and the requests of :KernelSkill to the server.
local compat = require('kernelskill.compat')
local execute = require('kernelskill.execute')
local report = require('kernelskill.report')
local window = require('kernelskill.window')

local M = {}

--- The cursor, as the server's commands take it.
---@param more table|nil
function M.here(more)
    return vim.tbl_extend('force', {
        uri = vim.uri_from_bufnr(0),
        line = vim.api.nvim_win_get_cursor(0)[1] - 1,
    }, more or {})
end

--- Profiles a kernel and shows what was seen.
function M.profile(bufnr, argument)
    execute.run(bufnr, 'kernelskill.profile', argument, function(profile)
        if type(profile) == 'table' and profile.kernel then
            window.show('profile/' .. profile.kernel, report.profile(profile))
        end
    end)
end

--- Shows what was tried on the buffer's file.
function M.memory(bufnr, argument)
    execute.run(bufnr, 'kernelskill.showMemory', argument, function(memory)
        if memory then
            window.show('memory', report.memory(memory))
        end
    end)
end

--- Lets the user pick the program that runs the workspace's kernels; the server remembers it and says so.
---@param name string|nil without one the user is asked
---@param done fun()|nil called once a program is picked
function M.pick_program(bufnr, name, done)
    local uri = vim.uri_from_bufnr(bufnr)
    local function pick(chosen)
        execute.run(bufnr, 'kernelskill.pickProgram', { uri = uri, name = chosen }, function(program)
            if program and program ~= vim.NIL and done then
                done()
            end
        end)
    end
    if name then
        return pick(name)
    end
    execute.request(bufnr, 'kernelskill/programs', { textDocument = { uri = uri } }, function(list, err)
        if err then
            return
        end
        if #list.programs == 0 then
            return vim.notify('kernelskill: no program was found; see :help kernelskill-program', vim.log.levels.WARN)
        end
        vim.ui.select(list.programs, {
            prompt = 'Programs that run these kernels',
            format_item = function(program)
                local mark = program.name == list.picked and ' (picked)' or ''
                return program.name .. mark .. ': ' .. table.concat(program.command, ' ')
            end,
        }, function(program)
            if program then
                pick(program.name)
            end
        end)
    end)
end

--- Calls back once it is known which program is meant; asks if not.
local function with_program(bufnr, run)
    local argument = { uri = vim.uri_from_bufnr(bufnr) }
    execute.request(bufnr, 'kernelskill/programs', { textDocument = argument }, function(list, err)
        if err then
            return
        end
        local known = #list.programs == 1
        for _, program in ipairs(list.programs) do
            known = known or program.name == list.picked
        end
        if known then
            run()
        else
            M.pick_program(bufnr, nil, run)
        end
    end)
end

--- Builds, runs and checks the picked program. The server says how it ended.
function M.run_program(bufnr)
    with_program(bufnr, function()
        execute.run(bufnr, 'kernelskill.runProgram', { uri = vim.uri_from_bufnr(bufnr) }, function() end)
    end)
end

local function show_program(profile)
    if type(profile) == 'table' and profile.lines then
        window.show('program/' .. profile.name, report.program(profile))
    end
end

--- Builds and runs the picked program, and shows which kernels take its time.
function M.profile_program(bufnr)
    with_program(bufnr, function()
        execute.run(bufnr, 'kernelskill.profileProgram', { uri = vim.uri_from_bufnr(bufnr) }, show_program)
    end)
end

--- Searches the picked program's kernels in copies of the workspace. The result is one edit over all files, which edits.lua
--- shows, or a message of the server.
function M.optimize_program(bufnr)
    with_program(bufnr, function()
        execute.run(bufnr, 'kernelskill.optimizeProgram', { uri = vim.uri_from_bufnr(bufnr) }, function() end)
    end)
end

--- Shows the last profile of a program again.
function M.show_program_profile(bufnr, argument)
    execute.run(bufnr, 'kernelskill.showProgramProfile', argument, show_program)
end

--- The program was profiled since a file of it was saved: says so, and changes the window that shows it, if one does.
function M.on_program_profiled(_, profile)
    vim.notify('kernelskill: ' .. profile.summary, vim.log.levels.INFO)
    window.update('program/' .. profile.name, report.program(profile))
end

--- Searches for a faster kernel. The result is an edit, which edits.lua shows, or a message of the server.
function M.optimize(bufnr, argument)
    execute.run(bufnr, 'kernelskill.optimize', argument, function() end)
end

--- Puts the launch that is guessed above its kernel.
function M.pin(bufnr, argument)
    execute.run(bufnr, 'kernelskill.pinLaunch', argument, function() end)
end

--- Checks kernels against a revision of git. The server tells the user what it found.
function M.verify(bufnr, argument)
    execute.run(bufnr, 'kernelskill.verify', argument, function() end)
end

--- Asks for a page about the buffer's kernels and writes it: to `path`, or to a temporary file that is opened.
function M.report(bufnr, path)
    local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
    execute.request(bufnr, 'kernelskill/report', params, function(page, err)
        if err then
            return
        end
        local file = path ~= '' and vim.fn.fnamemodify(path, ':p') or vim.fn.tempname() .. '.html'
        if vim.fn.writefile(vim.split(page.html, '\n', { plain = true }), file) ~= 0 then
            return
        end
        vim.notify('kernelskill: the report is in ' .. file)
        if path == '' and vim.ui.open then
            vim.ui.open(file)
        end
    end)
end

--- Shows the hover of a kernel at the cursor, which stands on the line of the kernel's name.
function M.explain(bufnr, argument)
    local client = execute.client_of(bufnr)
    if not client then
        return
    end
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1]
    local column = text:find('%f[%w_]' .. argument.kernel:match('[%w_]*$') .. '%f[^%w_]') or 1
    local is_utf8 = client.offset_encoding == 'utf-8'
    local character = is_utf8 and column - 1 or vim.fn.strchars(text:sub(1, column - 1))
    compat.request(client, 'textDocument/hover', {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
        position = { line = line, character = character },
    }, vim.lsp.handlers.hover or vim.lsp.handlers['textDocument/hover'], bufnr)
end

--- Runs a command that ends in an edit, or in a message of the server.
local function run_edit(name)
    return function(command, context)
        execute.run(context.bufnr, name, command.arguments[1], function() end)
    end
end

--- Calls one of the above for a command of the server.
local function call(of)
    return function(command, context)
        of(context.bufnr, command.arguments[1])
    end
end

--- Commands of code lenses and code actions: those whose result is for the user to read, and the slow ones, so that
--- :KernelSkill cancel ends them.
M.client_commands = {
    ['kernelskill.optimize'] = call(M.optimize),
    ['kernelskill.applySkill'] = run_edit('kernelskill.applySkill'),
    ['kernelskill.generate'] = run_edit('kernelskill.generate'),
    ['kernelskill.profile'] = call(M.profile),
    ['kernelskill.verify'] = call(M.verify),
    ['kernelskill.showMemory'] = call(M.memory),
    ['kernelskill.showProgramProfile'] = call(M.show_program_profile),
    ['kernelskill.explain'] = call(M.explain),
}

return M
