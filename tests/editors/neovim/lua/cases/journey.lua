-- The main job from end to end, judged by what the user sees and by the file.
local t = require('harness')

local function press_until(keys, what, seconds, condition)
    t.press(keys)
    return t.wait_for(what, seconds, condition)
end

local function file_of(bufnr)
    return table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(bufnr)), '\n')
end

return {
    {
        'open, lens, hover, skill, undo, error, fix, optimise, cancel, memory',
        function()
            local original = t.example('transpose.cu')
            local bufnr = t.open('transpose.cu', original)

            -- Shown without a key: the lens over the kernel, a hint at the access.
            local lens = t.wait_for_annotation(bufnr, '__global__', 'Optimize')
            t.contains(lens, 'bank-conflicts')
            t.contains(lens, 'Apply: pad rows')
            t.wait_for_annotation(bufnr, 'out[y * height + x] =', '32-way bank conflict')

            -- Hover.
            t.cursor_on(bufnr, 'transpose(float')
            t.press('K')
            local hover = t.wait_for_float('bank-conflicts')
            t.contains(hover, 'neighbouring lanes are 32 elements apart')
            t.close_floats()

            -- A skill: buffer, file, hint and lens follow.
            vim.cmd('KernelSkill apply shared-memory-padding')
            t.wait_for('the edit', 60, function()
                return t.text(bufnr):find('tile[TILE][TILE + 1]', 1, true)
            end)
            vim.cmd('silent write')
            t.contains(file_of(bufnr), 'tile[TILE][TILE + 1]')
            t.wait_for('a lens without the conflicts', 30, function()
                local shown = t.annotations(bufnr)[t.line_with(bufnr, '__global__')]
                return shown and shown:find('Optimize', 1, true) and not shown:find('bank-conflicts', 1, true)
            end)

            -- Undo.
            press_until('u', 'the original text', 5, function()
                return t.text(bufnr) == original
            end)
            vim.cmd('silent write')
            t.equal(original, file_of(bufnr), 'the file after undo')

            -- Break the code; take the fix.
            vim.cmd([[silent %s/__syncthreads/__synchthreads/]])
            t.wait_for('the error', 20, function()
                return #vim.diagnostic.get(bufnr, { severity = vim.diagnostic.severity.ERROR }) == 1
            end)
            vim.cmd('KernelSkill repair')
            t.wait_for('the fix', 30, function()
                return t.text(bufnr) == original
            end)
            t.wait_for('no error', 20, function()
                return #vim.diagnostic.get(bufnr, { severity = vim.diagnostic.severity.ERROR }) == 0
            end)

            -- Optimise; cancel.
            t.cursor_on(bufnr, 'transpose(float')
            vim.cmd('KernelSkill optimize rounds=2')
            local function status()
                return require('kernelskill').status()
            end
            t.wait_for('progress', 30, function()
                return status():find("Optimizing 'transpose'", 1, true)
            end)
            vim.cmd('KernelSkill cancel')
            t.wait_for('the end', 30, function()
                return status() == 'kernelskill'
            end)
            t.equal(original, t.text(bufnr), 'text after a search that was cancelled')

            -- The memory knows of the skill.
            vim.cmd('KernelSkill memory')
            local memory = t.wait_for_float('What was tried')
            t.contains(memory, '## transpose')
            t.contains(memory, 'plan     shared-memory-padding')
            t.contains(memory, 'verdict  shared-memory-padding: unmeasured')
            t.press('q')
            t.equal(nil, (t.float()), 'the window after q')
            t.equal(bufnr, vim.api.nvim_get_current_buf(), 'buffer')
        end,
    },
    {
        'the lens that names the bottleneck explains it',
        function()
            local bufnr = t.open('transpose.cu', t.example('transpose.cu'))
            t.wait_for_annotation(bufnr, '__global__', 'bank-conflicts')
            vim.api.nvim_win_set_cursor(0, { t.line_with(bufnr, '__global__'), 0 })
            local select = vim.ui.select
            local titles
            vim.ui.select = function(items, options, on_choice)
                titles = vim.tbl_map(options.format_item, items)
                on_choice(items[1])
            end
            t.press('grx')
            local ok, problem = pcall(t.wait_for_float, 'neighbouring lanes')
            vim.ui.select = select
            t.is_true(ok, problem)
            t.contains(titles[1], 'bank-conflicts')
        end,
    },
    {
        'a lens over the first line is in sight',
        function()
            local bufnr = t.open('a.cu', '__global__ void twice(float* x) { x[threadIdx.x] *= 2; }')
            t.wait_for_annotation(bufnr, '__global__', 'Optimize')
            if not require('kernelskill.lens').is_native then
                local marks = vim.api.nvim_buf_get_extmarks(
                    bufnr, require('kernelskill.lens').namespace, 0, -1, { details = true }
                )
                t.is_true(marks[1][4].virt_text, 'the lens is above the window')
            end
        end,
    },
    {
        'a profile is a window whose lines lead to the source',
        function()
            local bufnr = t.open('transpose.cu', t.example('transpose.cu'))
            t.ready(bufnr)
            t.cursor_on(bufnr, 'transpose(float')
            vim.cmd('KernelSkill profile')
            t.wait_for_float('Bottleneck: bank-conflicts')
            local line = t.line_with(0, '32 wavefronts a shared load')
            vim.api.nvim_win_set_cursor(0, { line, 0 })
            t.press('<CR>')
            t.equal(bufnr, vim.api.nvim_get_current_buf(), 'buffer')
            t.contains(vim.api.nvim_get_current_line(), 'out[y * height + x] =')
            -- The counts are shown at the line itself, and the lens knows that there is a profile.
            t.wait_for_annotation(bufnr, 'out[y * height + x] =', '32 times the wavefronts')
            t.wait_for_annotation(bufnr, '__global__', '× headroom')
        end,
    },
    {
        ':KernelSkill report writes a page with the roofline',
        function()
            local bufnr, directory = t.open('transpose.cu', t.example('transpose.cu'))
            t.ready(bufnr)
            vim.cmd('KernelSkill report ' .. directory .. '/page.html')
            t.wait_for('the page', 60, function()
                return t.told()[1]
            end)
            local page = table.concat(vim.fn.readfile(directory .. '/page.html'), '\n')
            t.contains(page, '<svg')
            t.contains(page, 'transpose')
        end,
    },
}
