-- Finding the executable, attaching, restarting, health.
local t = require('harness')
local binary = require('kernelskill.binary')
local compat = require('kernelskill.compat')

return {
    {
        'an explicit path wins over PATH',
        function()
            t.equal(t.server, (binary.find()), 'executable')
        end,
    },
    {
        'an explicit path that does not exist is reported, not replaced by a guess',
        function()
            vim.g.kernelskill = { path = '/nonexistent/kernelskill' }
            local path, problem = binary.find()
            t.equal(nil, path, 'executable')
            t.contains(problem, '/nonexistent/kernelskill')
        end,
    },
    {
        'without a setting the executable on PATH is taken',
        function()
            vim.g.kernelskill = nil
            local old = vim.env.PATH
            vim.env.PATH = vim.fn.fnamemodify(t.server, ':h') .. ':' .. old
            local path, origin = binary.find()
            vim.env.PATH = old
            t.equal(t.server, path, 'executable')
            t.equal('PATH', origin, 'origin')
        end,
    },
    {
        'a missing server is told once and leaves the buffer usable',
        function()
            vim.g.kernelskill = { path = '/nonexistent/kernelskill' }
            local bufnr = t.open('a.cu', t.example('saxpy.cu'))
            t.equal('cuda', vim.bo[bufnr].filetype, 'filetype')
            t.equal(0, #compat.clients(bufnr), 'clients')
            t.contains(t.notifications[1], 'not executable')
        end,
    },
    {
        'a CUDA buffer is attached without any set-up call',
        function()
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            local client = t.ready(bufnr)
            t.equal(directory, client.config.root_dir, 'workspace')
        end,
    },
    {
        'notes in the home folder or in one open to all make no workspace of the projects below',
        function()
            local outer = vim.env.KERNELSKILL_TEST_SCRATCH .. '/outer'
            vim.fn.mkdir(outer .. '/.kernelskill', 'p')
            vim.fn.mkdir(outer .. '/project', 'p')
            t.equal(outer, compat.root_of(outer .. '/project/a.cu'), 'an ordinary folder')
            assert(vim.loop.fs_chmod(outer, 511)) -- 0777
            t.equal(outer .. '/project', compat.root_of(outer .. '/project/a.cu'), 'open to all')
            assert(vim.loop.fs_chmod(outer, 493)) -- 0755
            local home = vim.env.HOME
            vim.env.HOME = outer
            local below, beside = compat.root_of(outer .. '/project/a.cu'), compat.root_of(outer .. '/a.cu')
            vim.env.HOME = home
            t.equal(outer .. '/project', below, 'below the home folder')
            t.equal(outer, beside, 'in the home folder')
        end,
    },
    {
        'a .cuh header is CUDA too',
        function()
            local bufnr = t.open('a.cuh', '__device__ inline float twice(float x) { return 2 * x; }')
            t.ready(bufnr)
        end,
    },
    {
        'two files of one workspace share a server',
        function()
            local first, directory = t.open('a.cu', t.example('saxpy.cu'))
            local client = t.ready(first)
            vim.fn.writefile(vim.split(t.example('reduce.cu'), '\n'), directory .. '/b.cu')
            vim.cmd('edit ' .. directory .. '/b.cu')
            t.equal(client.id, t.ready(vim.api.nvim_get_current_buf()).id, 'client')
        end,
    },
    {
        'autostart = false starts nothing',
        function()
            vim.g.kernelskill = { path = t.server, autostart = false }
            local bufnr = t.open('a.cu', t.example('saxpy.cu'))
            t.equal(0, #compat.clients(bufnr), 'clients')
            t.equal({}, t.server_processes(), 'servers')
        end,
    },
    {
        ':KernelSkill restart gives a new server to the buffer',
        function()
            local bufnr = t.open('a.cu', t.example('saxpy.cu'))
            local before = t.ready(bufnr).id
            vim.cmd('KernelSkill restart')
            local after = t.ready(bufnr).id
            t.is_true(after ~= before, 'the client is still the old one')
        end,
    },
    {
        ':checkhealth names the executable and what doctor found',
        function()
            vim.cmd('checkhealth kernelskill')
            local text = t.text(vim.api.nvim_get_current_buf())
            t.contains(text, t.server)
            t.contains(text, 'found through: vim.g.kernelskill.path')
            t.is_true(not text:find('gave no answer', 1, true), text)
        end,
    },
}
