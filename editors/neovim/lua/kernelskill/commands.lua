--- User commands, and what the commands behind the server's code lenses do in this editor.
local actions = require('kernelskill.actions')
local compat = require('kernelskill.compat')
local execute = require('kernelskill.execute')
local report = require('kernelskill.report')

local M = {}

local function show_profile(bufnr, argument)
    execute.run(bufnr, 'kernelskill.profile', argument, function(profile)
        if type(profile) == 'table' and profile.kernel then
            report.show('profile/' .. profile.kernel, report.profile_lines(profile))
        end
    end)
end

--- Asks for a page about the buffer's kernels and writes it: to `path`, or to a temporary file that is opened.
local function write_report(bufnr, path)
    local client = execute.client_of(bufnr)
    if not client then
        return
    end
    local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
    compat.request(client, 'kernelskill/report', params, function(err, report)
        if err then
            vim.notify('kernelskill: ' .. err.message, vim.log.levels.ERROR)
            return
        end
        local file = path ~= '' and vim.fn.fnamemodify(path, ':p') or vim.fn.tempname() .. '.html'
        if vim.fn.writefile(vim.split(report.html, '\n', { plain = true }), file) ~= 0 then
            return
        end
        vim.notify('kernelskill: the report is in ' .. file)
        if path == '' and vim.ui.open then
            vim.ui.open(file)
        end
    end, bufnr)
end

local function show_memory(bufnr, argument)
    execute.run(bufnr, 'kernelskill.showMemory', argument, function(memory)
        if memory then
            report.show('memory', report.memory_lines(memory))
        end
    end)
end

--- Runs a command that ends in an edit, which edits.lua applies, or in a message of the server.
local function run_edit(name)
    return function(command, context)
        execute.run(context.bufnr, name, command.arguments[1], function() end)
    end
end

--- Commands of code lenses and code actions: those whose result is for the user to read, and the slow ones, so that
--- :KernelSkillCancel ends them.
M.client_commands = {
    ['kernelskill.optimize'] = run_edit('kernelskill.optimize'),
    ['kernelskill.applySkill'] = run_edit('kernelskill.applySkill'),
    ['kernelskill.generate'] = run_edit('kernelskill.generate'),
    ['kernelskill.profile'] = function(command, context)
        show_profile(context.bufnr, command.arguments[1])
    end,
    ['kernelskill.showMemory'] = function(command, context)
        show_memory(context.bufnr, command.arguments[1])
    end,
}

local function skill_ids(lead)
    local binary = require('kernelskill.binary').find()
    if not binary then
        return {}
    end
    local ok, skills = pcall(vim.fn.json_decode, vim.fn.system({ binary, 'skills', 'list', '--json' }))
    if not ok or type(skills) ~= 'table' then
        return {}
    end
    local ids = {}
    for _, skill in ipairs(skills) do
        if vim.startswith(skill.id, lead) then
            ids[#ids + 1] = skill.id
        end
    end
    return ids
end

function M.define()
    local command = vim.api.nvim_create_user_command
    command('KernelSkillProfile', function(options)
        show_profile(vim.api.nvim_get_current_buf(), {
            uri = vim.uri_from_bufnr(0),
            line = vim.api.nvim_win_get_cursor(0)[1] - 1,
            on = options.args ~= '' and options.args or nil,
        })
    end, {
        nargs = '?',
        complete = function()
            return { 'emulator', 'gpu' }
        end,
        desc = 'Profile the kernel under the cursor and show what holds it back',
    })
    command('KernelSkillOptimize', function()
        execute.run(vim.api.nvim_get_current_buf(), 'kernelskill.optimize', {
            uri = vim.uri_from_bufnr(0),
            line = vim.api.nvim_win_get_cursor(0)[1] - 1,
        }, function() end)
    end, { desc = 'Search for edits that make the kernel under the cursor faster' })
    command('KernelSkillCancel', function()
        if execute.cancel() == 0 then
            vim.notify('kernelskill: nothing runs that could be cancelled', vim.log.levels.INFO)
        end
    end, { desc = 'Cancel what commands and code lenses of KernelSkill have started' })
    command('KernelSkillReport', function(options)
        write_report(vim.api.nvim_get_current_buf(), options.args)
    end, {
        nargs = '?',
        complete = 'file',
        desc = 'Write what is known of the kernels of this file as a page with their roofline',
    })
    command('KernelSkillAssembly', function(options)
        require('kernelskill.assembly').open(
            vim.api.nvim_get_current_buf(),
            options.args ~= '' and options.args or nil
        )
    end, {
        nargs = '?',
        complete = function()
            return { 'ptx', 'sass' }
        end,
        desc = 'Show what the kernel under the cursor compiles to, linked with its lines',
    })
    command('KernelSkillApply', function(options)
        actions.apply_skill(options.args)
    end, {
        nargs = '?',
        complete = skill_ids,
        desc = 'Apply a skill that fits at the cursor, after verifying it',
    })
    command('KernelSkillRepair', actions.repair, { desc = 'Fix a compile error of this buffer' })
    command('KernelSkillMemory', function()
        show_memory(vim.api.nvim_get_current_buf(), { uri = vim.uri_from_bufnr(0) })
    end, { desc = 'Show what was tried on this file' })
    command('KernelSkillRestart', function()
        require('kernelskill').restart()
    end, { desc = 'Restart the KernelSkill server' })
    command('KernelSkillLog', function()
        vim.cmd('tabnew ' .. vim.fn.fnameescape(vim.lsp.get_log_path()))
    end, { desc = "Open Neovim's log of language servers, which holds the server's messages" })
end

return M
