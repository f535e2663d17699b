-- The plug-in as a package: found without a manager, documented, completed, configured.
local t = require('harness')
local user_command = require('kernelskill.user_command')

local plugin = t.root .. '/editors/neovim'

--- Output of a Neovim of its own that ends by itself.
local function other_nvim(arguments)
    local lines, code = {}, nil
    local function collect(_, data)
        vim.list_extend(lines, data)
    end
    local job = vim.fn.jobstart(
        vim.list_extend({ t.nvim, '--headless', '--clean', '-n' }, arguments),
        {
            stdout_buffered = true,
            stderr_buffered = true,
            on_stdout = collect,
            on_stderr = collect,
            on_exit = function(_, status)
                code = status
            end,
        }
    )
    t.is_true(job > 0, 'Neovim did not start')
    t.wait_for('the other Neovim', 60, function()
        return code
    end)
    return table.concat(lines, '\n'), code
end

--- The output of another Neovim, which has the plug-in as a package and opens an example; `script` is Lua.
local function packaged(prefix, script)
    local folder = ('%s/%s'):format(t.scratch, prefix)
    local start = folder .. '/site/pack/kernelskill/start'
    vim.fn.mkdir(start, 'p')
    vim.loop.fs_symlink(plugin, start .. '/kernelskill')
    vim.fn.writefile(vim.split(t.example('saxpy.cu'), '\n'), folder .. '/a.cu')
    local output, code = other_nvim({
        '--cmd', ('set packpath^=%s/site'):format(folder),
        folder .. '/a.cu',
        '-c', 'lua ' .. script,
    })
    t.equal(0, code, 'exit status of the other Neovim, which wrote ' .. output)
    return (output:gsub('%s+', ' '))
end

return {
    {
        'works from packpath, without a plug-in manager',
        function()
            local path = vim.env.PATH
            vim.env.PATH = vim.fn.fnamemodify(t.server, ':h') .. ':' .. path
            local ok, output = pcall(packaged, 'packed', [[
                local attached = vim.wait(20000, function()
                    return require('kernelskill').status() == 'kernelskill'
                end, 20)
                io.stdout:write(attached and 'attached,' or 'alone,', vim.fn.exists(':KernelSkill'))
                vim.cmd('qall!')
            ]])
            vim.env.PATH = path
            t.is_true(ok, output)
            t.contains(output, 'attached,2')
        end,
    },
    {
        'without a server anywhere there is one message on one line, with what to do',
        function()
            local path = vim.env.PATH
            vim.env.PATH = '/usr/bin:/bin'
            local ok, output = pcall(packaged, 'alone', [[
                io.stdout:write('<', vim.fn.execute('messages'), '>', require('kernelskill').status())
                vim.cmd('qall!')
            ]])
            vim.env.PATH = path
            t.is_true(ok, output)
            local messages = output:match('<(.*)>')
            t.equal(1, select(2, messages:gsub('kernelskill: ', '')), 'messages in ' .. messages)
            t.contains(messages, 'no kernelskill on PATH')
            t.contains(messages, ':checkhealth kernelskill')
            t.contains(output, 'kernelskill: no server')
        end,
    },
    {
        'the help has a tag for each subcommand, option and section, and no tag twice',
        function()
            local doc = t.scratch .. '/doc'
            vim.fn.mkdir(doc, 'p')
            vim.fn.writefile(vim.fn.readfile(plugin .. '/doc/kernelskill.txt'), doc .. '/kernelskill.txt')
            vim.cmd('helptags ' .. doc) -- fails on a tag that is there twice
            local tags = {}
            for _, line in ipairs(vim.fn.readfile(doc .. '/tags')) do
                tags[line:match('^%S+')] = true
            end
            for name in pairs(user_command.subcommands) do
                t.is_true(tags[':KernelSkill-' .. name], name .. ' has no tag')
            end
            local text = table.concat(vim.fn.readfile(doc .. '/kernelskill.txt'), '\n')
            for option in pairs(require('kernelskill.config').defaults) do
                t.is_true(text:find('\n        ' .. option .. ' = ', 1, true), option .. ' is not documented')
            end
            for reference in text:gmatch('|(kernelskill[%w-]*)|') do
                t.is_true(tags[reference], reference .. ' leads nowhere')
            end
        end,
    },
    {
        'the help opens by the runtimepath line of the README alone',
        function()
            local line = table.concat(vim.fn.readfile(t.root .. '/README.md'), '\n'):match("vim%.opt%.runtimepath:append%b()")
            line = line:gsub('/path/to/kernelskill/editors/neovim', plugin)
            local output, code = other_nvim({
                '--cmd', 'lua ' .. line,
                '-c', 'help kernelskill',
                '-c', 'lua io.stdout:write(vim.fn.expand("%:t"))',
                '-c', 'qall!',
            })
            t.equal(0, code, 'exit status of the other Neovim')
            t.contains(output, 'kernelskill.txt')
        end,
    },
    {
        'the tags beside the help are those of its text',
        function()
            local doc = t.scratch .. '/tags-of'
            vim.fn.mkdir(doc, 'p')
            vim.fn.writefile(vim.fn.readfile(plugin .. '/doc/kernelskill.txt'), doc .. '/kernelskill.txt')
            vim.cmd('helptags ' .. doc)
            t.equal(vim.fn.readfile(doc .. '/tags'), vim.fn.readfile(plugin .. '/doc/tags'), 'run :helptags editors/neovim/doc')
        end,
    },
    {
        'Tab completes subcommands and what may follow them',
        function()
            vim.g.kernelskill = { path = t.server }
            local function completions(line)
                return vim.fn.getcompletion(line, 'cmdline')
            end
            t.equal({ 'profile', 'program' }, completions('KernelSkill pro'), 'subcommands')
            t.equal({ 'repair', 'report', 'restart' }, completions('KernelSkill re'), 'subcommands')
            t.equal({ 'ptx', 'sass', 'compare' }, completions('KernelSkill assembly '), 'languages')
            t.equal({ 'compare' }, completions('KernelSkill assembly ptx '), 'what follows a language')
            t.is_true(
                vim.tbl_contains(completions('KernelSkill assembly compare shared-m'), 'shared-memory-padding'),
                'skills to compare with'
            )
            t.equal({ 'gpu' }, completions('KernelSkill profile g'), 'places')
            t.equal({ 'gpu' }, user_command.complete('g', 'silent KernelSkill profile g'), 'places after a modifier')
            t.equal({ 'shared-memory-padding' }, completions('KernelSkill apply shared-memory-pad'), 'skills')
            t.equal({}, completions('KernelSkill nothing '), 'of what is none')
        end,
    },
    {
        'a subcommand that is none, and an argument that is none, are refused with what there is',
        function()
            vim.cmd('KernelSkill profil')
            t.contains(t.notifications[1], "there is no 'profil'; there are apply, assembly")
            vim.cmd('KernelSkill optimize fast')
            t.contains(t.notifications[2], "'rounds=N' and 'seconds=N' can follow, not 'fast'")
        end,
    },
    {
        'without a subcommand there is a menu of them',
        function()
            local select = vim.ui.select
            local shown
            vim.ui.select = function(items, options)
                shown = table.concat(vim.tbl_map(options.format_item, items), '\n')
            end
            vim.cmd('KernelSkill')
            vim.ui.select = select
            t.contains(shown, 'optimize  Search for edits')
        end,
    },
    {
        'keys that the user has mapped stay, others are those of current Neovim',
        function()
            vim.keymap.set('n', 'gra', 'ia<Esc>')
            local bufnr = t.open('a.cu', t.example('saxpy.cu'))
            t.ready(bufnr)
            local own = vim.fn.maparg('gra', 'n')
            vim.keymap.del('n', 'gra')
            t.equal('ia<Esc>', own, 'the mapping of the user')
            t.is_true(vim.fn.maparg('K', 'n', false, true).callback, 'K is not mapped')
            t.is_true(vim.fn.maparg('grx', 'n', false, true).callback, 'grx is not mapped')
        end,
    },
    {
        'the status line says what the server does, and nothing in other buffers',
        function()
            local bufnr = t.open('a.cu', t.example('saxpy.cu'))
            local status = require('kernelskill').status
            t.ready(bufnr)
            t.equal('kernelskill', status(), 'status')
            vim.cmd('new')
            t.equal('', status(), 'status of an empty buffer')
            t.equal('kernelskill', status(bufnr), 'status of the other one')
        end,
    },
    {
        'vim.lsp.enable and vim.lsp.config work where Neovim has them',
        function()
            if not vim.lsp.config then
                return 'Neovim 0.11 has them'
            end
            local before = vim.lsp.config.kernelskill.settings
            t.equal({ 'cuda' }, vim.lsp.config.kernelskill.filetypes, 'filetypes')
            vim.g.kernelskill = { path = t.server, autostart = false }
            vim.lsp.config('kernelskill', { settings = { kernelskill = { inlayHints = { enabled = false } } } })
            vim.lsp.enable('kernelskill')
            local bufnr = t.open('a.cu', t.example('transpose.cu'))
            local client = t.ready(bufnr)
            t.equal(1, #require('kernelskill.compat').clients(bufnr), 'clients')
            vim.lsp.enable('kernelskill', false)
            vim.lsp.config('kernelskill', { settings = vim.tbl_deep_extend('force', before, {
                kernelskill = { inlayHints = { enabled = true } },
            }) })
            t.equal(false, client.config.settings.kernelskill.inlayHints.enabled, "the user's setting")
        end,
    },
    {
        'vim.lsp.enable beside the start of our own gives a buffer one server',
        function()
            if not vim.lsp.enable then
                return 'Neovim 0.11 has it'
            end
            vim.lsp.enable('kernelskill')
            local bufnr = t.open('a.cu', t.example('transpose.cu'))
            t.ready(bufnr)
            t.wait_for_annotation(bufnr, '__global__', 'Optimize')
            local clients, servers = #vim.lsp.get_clients({ bufnr = bufnr }), #t.server_processes()
            vim.lsp.enable('kernelskill', false)
            t.equal({ 1, 1 }, { clients, servers }, 'clients and servers')
        end,
    },
}
