-- A server that dies, and one that is not there.
local t = require('harness')
local compat = require('kernelskill.compat')
local server = require('kernelskill.server')

local function kill_server()
    local pids = t.server_processes()
    t.equal(1, #pids, 'servers')
    vim.loop.kill(pids[1], 'sigkill')
    return vim.loop.hrtime()
end

local function wait_for_another(bufnr, than)
    return t.wait_for('another server', 20, function()
        local client = compat.clients(bufnr)[1]
        return client and client.id ~= than and client.initialized ~= false and client
    end)
end

--- Runs the body with other delays and limits.
local function with_limits(first_delay, most_crashes, body)
    local old = { server.first_delay, server.most_crashes }
    server.first_delay, server.most_crashes = first_delay, most_crashes
    local ok, problem = pcall(body)
    server.first_delay, server.most_crashes = old[1], old[2]
    if not ok then
        error(problem, 0)
    end
end

--- An executable that ends at once, with that status.
local function failing_server(status)
    local path = t.scratch .. '/failing-server'
    vim.fn.writefile({ '#!/bin/sh', 'exit ' .. status }, path)
    vim.fn.setfperm(path, 'rwx------')
    return path
end

return {
    {
        'a server that is killed is started again for all its buffers, later each time; the user is told once',
        function()
            with_limits(100, 5, function()
                local first, directory = t.open('a.cu', t.example('transpose.cu'))
                vim.fn.writefile(vim.split(t.example('reduce.cu'), '\n'), directory .. '/b.cu')
                vim.cmd('edit ' .. directory .. '/b.cu')
                local second = vim.api.nvim_get_current_buf()
                t.wait_for_annotation(second, '__global__', 'Optimize')
                local id = t.ready(first).id
                local began = kill_server()
                t.wait_for('trouble in the status line', 10, function()
                    return require('kernelskill').status(second) == 'kernelskill: crashed, starting again'
                end)
                local client = wait_for_another(first, id)
                t.is_true(vim.loop.hrtime() - began >= 0.1e9, 'no delay')
                t.equal(client.id, t.ready(second).id, 'the client of the other buffer')
                t.equal('kernelskill', require('kernelskill').status(second), 'status')

                began = kill_server()
                wait_for_another(first, client.id)
                t.is_true(vim.loop.hrtime() - began >= 0.2e9, 'the second delay is no longer')
                t.equal(1, #t.told(), 'messages')
                t.contains(t.told()[1], 'crashed (signal 9) and is started again')

                -- The user sees the same again, once.
                local lens = t.wait_for_annotation(second, '__global__', 'Optimize')
                t.equal(1, select(2, lens:gsub('Optimize', '')), 'lenses over one kernel')
                vim.api.nvim_win_set_buf(0, first)
                t.wait_for_annotation(first, 'out[y * height + x] =', '32-way bank conflict')
            end)
        end,
    },
    {
        'what ran when the server died is over',
        function()
            with_limits(50, 5, function()
                local bufnr = t.open('a.cu', t.example('transpose.cu'))
                local id = t.ready(bufnr).id
                t.cursor_on(bufnr, 'transpose(float')
                vim.cmd('KernelSkill optimize')
                t.wait_for('progress', 30, function()
                    return require('kernelskill').status():find('Optimizing', 1, true)
                end)
                kill_server()
                wait_for_another(bufnr, id)
                t.equal('kernelskill', require('kernelskill').status(), 'status')
                vim.cmd('KernelSkill cancel')
                t.contains(t.notifications[#t.notifications], 'nothing runs')
            end)
        end,
    },
    {
        'a server that crashes at once is given up, with the remedy; :KernelSkill restart tries again',
        function()
            with_limits(10, 3, function()
                vim.g.kernelskill = { path = failing_server(3) }
                local bufnr = t.open('a.cu', t.example('saxpy.cu'))
                t.wait_for('the end', 20, function()
                    return #t.told() == 2
                end)
                t.contains(t.told()[1], 'crashed (exit code 3) and is started again')
                t.contains(t.told()[2], 'crashed 3 times')
                t.contains(t.told()[2], ':KernelSkill restart')
                t.equal('kernelskill: crashed', require('kernelskill').status(), 'status')
                t.equal({}, compat.clients(bufnr), 'clients')

                vim.g.kernelskill = { path = t.server }
                vim.cmd('KernelSkill restart')
                t.ready(bufnr)
                t.equal('kernelskill', require('kernelskill').status(), 'status after the restart')
            end)
        end,
    },
    {
        'a server that was told to stop stays stopped',
        function()
            with_limits(10, 5, function()
                local bufnr = t.open('a.cu', t.example('saxpy.cu'))
                t.ready(bufnr)
                compat.stop_all()
                -- Longer than the delay, which would have begun before this one.
                local is_late = false
                vim.defer_fn(function()
                    is_late = true
                end, 100)
                t.wait_for('the time of a restart', 5, function()
                    return is_late
                end)
                t.equal({}, t.server_processes(), 'servers')
                t.equal({}, t.told(), 'messages')
            end)
        end,
    },
    {
        'a missing server is one message with the remedy, and :KernelSkill restart finds it once it is there',
        function()
            local path = vim.env.PATH
            vim.env.PATH = '/usr/bin:/bin'
            vim.g.kernelskill = { path = t.scratch .. '/later/kernelskill' }
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            vim.fn.writefile(vim.split(t.example('reduce.cu'), '\n'), directory .. '/b.cu')
            vim.cmd('edit ' .. directory .. '/b.cu')
            vim.env.PATH = path
            t.equal(1, #t.told(), 'messages')
            t.contains(t.told()[1], 'later/kernelskill')
            t.contains(t.told()[1], 'vim.g.kernelskill')
            t.equal('kernelskill: no server', require('kernelskill').status(), 'status')

            vim.fn.mkdir(t.scratch .. '/later', 'p')
            vim.loop.fs_symlink(t.server, t.scratch .. '/later/kernelskill')
            vim.cmd('KernelSkill restart')
            t.ready(bufnr)
            t.ready(vim.api.nvim_get_current_buf())
        end,
    },
}
