-- The user's own change against git's HEAD: the lens, the command, and what the user is told.
local t = require('harness')

local function git(directory, ...)
    local words = { 'git', '-C', directory, '-c', 'user.name=Test', '-c', 'user.email=test@localhost', ... }
    local output = vim.fn.system(words)
    t.equal(0, vim.v.shell_error, 'git: ' .. output)
end

--- Neovim shows a server's message by vim.notify, or older ones by themselves.
local function told(part)
    return t.wait_for(('%q among the messages'):format(part), 60, function()
        local shown = vim.inspect(t.notifications) .. vim.fn.execute('messages')
        return shown:gsub('%s+', ' '):find(part, 1, true)
    end)
end

return {
    {
        'a kernel that differs from HEAD has a lens, and is verified',
        function()
            local bufnr, directory = t.open('transpose.cu', t.example('transpose.cu'))
            git(directory, 'init', '--quiet')
            git(directory, 'add', 'transpose.cu')
            git(directory, 'commit', '--quiet', '--message', 'first')
            t.wait_for_annotation(bufnr, '__global__', 'Optimize')
            vim.cmd([[silent %s/\[TILE\]\[TILE\]/[TILE][TILE + 1]/]])
            t.wait_for_annotation(bufnr, '__global__', 'Verify against HEAD')
            vim.cmd('KernelSkill verify')
            told('transpose is right')
            vim.cmd([[silent %s/    __syncthreads();//]])
            vim.cmd('KernelSkill verify')
            told('transpose is wrong')
        end,
    },
}
