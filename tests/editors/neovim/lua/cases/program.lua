-- The program that runs a workspace's kernels: picked once, then run.
local t = require('harness')

local function lines_of(path)
    return vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or nil
end

--- Calls `body` while the user picks the program of this name from the list; returns what was listed.
local function picking(name, body)
    local select = vim.ui.select
    local listed
    vim.ui.select = function(items, options, on_choice)
        listed = vim.tbl_map(options.format_item, items)
        for _, item in ipairs(items) do
            if item.name == name then
                return on_choice(item)
            end
        end
    end
    local ok, problem = pcall(body)
    vim.ui.select = select
    t.is_true(ok, problem)
    return listed
end

return {
    {
        ':KernelSkill program run asks once which program, and runs it',
        function()
            vim.g.kernelskill = {
                path = t.server,
                settings = {
                    program = {
                        small = { command = 'cp source small.out' },
                        large = { command = 'cp source large.out' },
                    },
                },
            }
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            vim.fn.writefile({ 'text' }, directory .. '/source')
            t.ready(bufnr)
            local listed = picking('small', function()
                vim.cmd('KernelSkill program run')
                t.wait_for('the program', 30, function()
                    return lines_of(directory .. '/small.out')
                end)
            end)
            t.equal({ 'large: cp source large.out', 'small: cp source small.out' }, listed, 'programs')
            t.equal({ 'small' }, lines_of(directory .. '/.kernelskill/picked-program'), 'what is kept')
            vim.fn.delete(directory .. '/small.out')
            vim.cmd('KernelSkill program run')
            t.wait_for('the program again, without a question', 30, function()
                return lines_of(directory .. '/small.out')
            end)
            t.equal(nil, lines_of(directory .. '/large.out'), 'the other program')
        end,
    },
    {
        ':KernelSkill program pick takes a name, and says what there is',
        function()
            vim.g.kernelskill = { path = t.server, settings = { program = { small = { command = 'true' } } } }
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            t.ready(bufnr)
            vim.cmd('KernelSkill program pick small')
            t.wait_for('the choice', 30, function()
                return lines_of(directory .. '/.kernelskill/picked-program')
            end)
            vim.cmd('KernelSkill program pick absent')
            t.wait_for('the refusal', 30, function()
                return table.concat(t.notifications, '\n'):find('there are: small', 1, true)
            end)
        end,
    },
}
