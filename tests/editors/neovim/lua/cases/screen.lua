-- Neovim in a terminal: keys go in, and what is read is the screen.
local t = require('harness')

local columns, rows = 140, 45

--- A terminal of its own, in which Neovim edits a copy of the example.
local function terminal(example)
    local directory = ('%s/screen'):format(t.scratch)
    vim.fn.mkdir(directory .. '/.git', 'p')
    local file = directory .. '/' .. example
    vim.fn.writefile(vim.split(t.example(example), '\n'), file)
    local socket = t.scratch .. '/tmux'
    local function tmux(arguments)
        local command = vim.list_extend({ 'tmux', '-u', '-S', socket, '-f', '/dev/null' }, arguments)
        local output = vim.fn.system(command)
        return output, vim.v.shell_error
    end
    local start = {
        '--clean', '-n',
        '--cmd', 'set runtimepath+=' .. t.root .. '/editors/neovim',
        '--cmd', [[let &statusline = '%f %m%=%{v:lua.require("kernelskill").status()}']],
        '--cmd', 'set laststatus=2',
        file,
    }
    local line = table.concat(vim.tbl_map(vim.fn.shellescape, vim.list_extend({ t.nvim }, start)), ' ')
    local environment = 'PATH=' .. vim.fn.shellescape(vim.fn.fnamemodify(t.server, ':h') .. ':' .. vim.env.PATH)
    local output, code = tmux({
        'new-session', '-d', '-x', tostring(columns), '-y', tostring(rows),
        -- Without these variables, which Neovim sets for its children, it would think that it runs inside of another.
        'unset NVIM VIM VIMRUNTIME; ' .. environment .. ' exec ' .. line,
    })
    t.equal(0, code, 'tmux: ' .. output)
    local function screen()
        return (tmux({ 'capture-pane', '-p' }))
    end
    return {
        file = file,
        screen = screen,
        keys = function(...)
            tmux({ 'send-keys', ... })
        end,
        wait_for = function(text, seconds)
            local ok, problem = pcall(t.wait_for, ('%q on the screen'):format(text), seconds or 30, function()
                return screen():find(text, 1, true)
            end)
            if not ok then
                error(problem .. '\n' .. screen(), 0)
            end
            return screen()
        end,
        wait_until_gone = function(text)
            t.wait_for(('no %q on the screen'):format(text), 20, function()
                return not screen():find(text, 1, true)
            end)
        end,
        close = function()
            tmux({ 'kill-server' })
        end,
    }
end

return {
    {
        'what a user reads from start to undo',
        function()
            if vim.fn.executable('tmux') == 0 then
                return 'there is no tmux'
            end
            local term = terminal('transpose.cu')
            local ok, problem = pcall(function()
                -- Nothing was typed yet.
                local screen = term.wait_for('bank-conflicts')
                t.contains(screen, '__global__ void transpose(')
                t.contains(screen, 'Profile')
                t.contains(screen, '32-way bank conflict')
                term.wait_for('transpose.cu  ')

                term.keys('/transpose(', 'Enter')
                term.keys('K')
                term.wait_for('neighbouring lanes are 32 elements apart')
                t.contains(term.screen(), 'conflicts, high headroom')
                term.keys('h')
                term.wait_until_gone('conflicts, high headroom')

                term.keys(':KernelSkill profile', 'Enter')
                screen = term.wait_for('Bottleneck: bank-conflicts', 60)
                t.contains(screen, '╭─')
                t.contains(screen, '32 wavefronts a shared load')
                term.keys('q')
                term.wait_until_gone('Bottleneck: bank-conflicts')

                term.keys(':KernelSkill apply shared-memory-padding', 'Enter')
                term.wait_for('tile[TILE][TILE + 1];', 60)
                t.contains(term.screen(), 'transpose.cu [+]')
                term.keys(':w', 'Enter')
                t.wait_for('the file', 20, function()
                    return table.concat(vim.fn.readfile(term.file), '\n'):find('TILE + 1', 1, true)
                end)
                term.keys('u')
                term.wait_for('tile[TILE][TILE];')

                term.keys(':KernelSkill memory', 'Enter')
                term.wait_for('verdict  shared-memory-padding: unmeasured')
                term.keys('q')
            end)
            term.close()
            t.is_true(ok, problem)
        end,
    },
}
