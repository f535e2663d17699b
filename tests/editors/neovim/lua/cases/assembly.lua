-- A kernel's code beside its source. Without a CUDA toolkit the server says what is missing.
local t = require('harness')
local assembly = require('kernelskill.assembly')
local compare = require('kernelskill.assembly_compare')

local function window_of(name)
    for _, window in ipairs(vim.api.nvim_list_wins()) do
        local bufnr = vim.api.nvim_win_get_buf(window)
        if vim.api.nvim_buf_get_name(bufnr):find('assembly/' .. name, 1, true) then
            return window, bufnr
        end
    end
end

--- Lines (from 1 on) that are highlighted.
local function highlighted(bufnr)
    return vim.tbl_map(function(mark)
        return mark[2] + 1
    end, vim.api.nvim_buf_get_extmarks(bufnr, assembly.namespace, 0, -1, {}))
end

--- The buffers of both versions, once `command` has shown them; nil where no toolkit is found.
local function compared(command)
    vim.cmd(command)
    t.wait_for('both versions', 60, function()
        return window_of('transpose/after') or #t.notifications > 0
    end)
    local _, before = window_of('transpose/before')
    local _, after = window_of('transpose/after')
    if not after then
        t.contains(table.concat(t.notifications, '\n'), 'no CUDA toolkit')
        return nil
    end
    return before, after
end

--- The colour of a line (from 1 on); nil where it has none.
local function colour(bufnr, line)
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, compare.namespace, 0, -1, { details = true })) do
        if mark[2] == line - 1 then
            return mark[4].hl_group
        end
    end
end

--- The text without the numbers of registers, labels and source lines.
local function unnumbered(line)
    return (line:gsub('^%s*%d*', ''):gsub('%d+', ''))
end

--- The source buffer, and the window and buffer of the code; nil where no toolkit is found.
local function open()
    local source = t.open('transpose.cu', t.example('transpose.cu'))
    t.cursor_on(source, '__syncthreads')
    t.ready(source)
    vim.cmd('KernelSkill assembly ptx')
    t.wait_for('the code', 60, function()
        return window_of('transpose') or #t.notifications > 0
    end)
    local window, shown = window_of('transpose')
    if not window then
        t.contains(table.concat(t.notifications, '\n'), 'no CUDA toolkit')
        return nil
    end
    return source, window, shown
end

return {
    {
        ':KernelSkill assembly shows facts and instructions with their lines',
        function()
            local source, _, shown = open()
            if not source then
                return
            end
            local text = t.text(shown)
            t.contains(text, '# transpose  PTX for sm_')
            t.contains(text, '4096 bytes of static shared memory')
            local store = t.line_with(shown, 'st.global.f32')
            local number = vim.api.nvim_buf_get_lines(shown, store - 1, store, false)[1]:match('^%s*(%d+)  ')
            t.equal(t.line_with(source, 'out[y * height + x] ='), tonumber(number), 'the line of the store')
            t.equal(source, vim.api.nvim_get_current_buf(), 'the cursor stays in the source')
        end,
    },
    {
        'the cursor in one highlights what belongs to it in the other',
        function()
            local source, window, shown = open()
            if not source then
                return
            end
            local store = t.line_with(source, 'out[y * height + x] =')
            vim.api.nvim_win_set_cursor(0, { store, 0 })
            vim.cmd('doautocmd CursorMoved')
            local lines = highlighted(shown)
            t.is_true(vim.tbl_contains(lines, t.line_with(shown, 'st.global.f32')), 'the store is highlighted')
            t.is_true(not vim.tbl_contains(lines, t.line_with(shown, 'ld.global.f32')), 'the load is not')
            t.equal({}, highlighted(source), 'marks in the source')

            vim.api.nvim_set_current_win(window)
            vim.api.nvim_win_set_cursor(window, { t.line_with(shown, 'bar.sync'), 0 })
            vim.cmd('doautocmd CursorMoved')
            t.equal({ t.line_with(source, '__syncthreads') }, highlighted(source), 'the barrier')
            t.equal({}, highlighted(shown), 'marks in the code')
        end,
    },
    {
        'highlights go when the text changes or the window is closed',
        function()
            local source, window, shown = open()
            if not source then
                return
            end
            t.cursor_on(source, '__syncthreads')
            vim.cmd('doautocmd CursorMoved')
            t.is_true(#highlighted(shown) > 0, 'highlighted before')
            vim.api.nvim_buf_set_lines(source, 0, 0, false, { '// new' })
            vim.cmd('doautocmd CursorMoved')
            t.equal({}, highlighted(shown), 'marks of a text that is gone')
            vim.api.nvim_win_close(window, true)
            vim.cmd('doautocmd CursorMoved')
            t.equal({}, highlighted(source), 'marks without a window')
        end,
    },
    {
        ':KernelSkill assembly compare shows what an edit has changed, row by row',
        function()
            local source = t.open('transpose.cu', t.example('transpose.cu'))
            local line = t.line_with(source, 'out[y * height + x] =')
            local text = vim.api.nvim_buf_get_lines(source, line - 1, line, false)[1]
            vim.api.nvim_buf_set_lines(source, line - 1, line, false, { (text:gsub('=', '= 3.0f +', 1)) })
            t.cursor_on(source, '__syncthreads')
            t.ready(source)
            local before, after = compared('KernelSkill assembly ptx compare')
            if not before then
                return
            end
            t.contains(t.text(before), '# saved\n# transpose  PTX for sm_')
            t.contains(t.text(after), '# editor\n# transpose  PTX for sm_')
            t.contains(t.text(after), 'add.f32 0 -> 1')
            t.equal(vim.api.nvim_buf_line_count(before), vim.api.nvim_buf_line_count(after), 'rows')
            local added = t.line_with(after, 'add.f32 %')
            t.equal('DiffAdd', colour(after, added), 'the instruction that was added')
            t.equal('DiffDelete', colour(before, added), 'the gap beside it')
            t.equal(('-'):rep(40), vim.api.nvim_buf_get_lines(before, added - 1, added, false)[1], 'the gap')
            local changed = 0
            local first = t.line_with(after, 'ld.param') -- behind the facts
            for row = first, vim.api.nvim_buf_line_count(after) do
                if colour(after, row) then
                    changed = changed + 1
                else
                    local old = vim.api.nvim_buf_get_lines(before, row - 1, row, false)[1]
                    local new = vim.api.nvim_buf_get_lines(after, row - 1, row, false)[1]
                    t.equal(unnumbered(old), unnumbered(new), 'a row without a colour')
                end
            end
            t.is_true(changed < 5, changed .. ' rows are changed by one addition')
        end,
    },
    {
        'compared versions scroll together, and ]c goes to a change',
        function()
            local source = t.open('transpose.cu', t.example('transpose.cu'))
            t.cursor_on(source, '__syncthreads')
            t.ready(source)
            local before, after = compared('KernelSkill assembly ptx compare shared-memory-padding')
            if not before then
                return
            end
            t.contains(t.text(after), '# with shared-memory-padding')
            t.contains(t.text(before), '4096 bytes of static shared memory')
            t.contains(t.text(after), '4224 bytes of static shared memory')
            t.equal(2, #vim.api.nvim_tabpage_list_wins(0), 'windows of the tab page')
            t.equal(after, vim.api.nvim_get_current_buf(), 'the cursor is in the second')
            for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
                t.is_true(vim.wo[window].scrollbind and vim.wo[window].cursorbind, 'bound')
            end
            vim.api.nvim_win_set_cursor(0, { 1, 0 })
            t.press(']c')
            local change = vim.api.nvim_win_get_cursor(0)[1]
            t.is_true(colour(after, change) ~= nil, 'a change at line ' .. change)
            t.equal(nil, colour(after, change - 1), 'the line before it')
            vim.cmd('normal! G')
            t.press('[c')
            t.is_true(vim.api.nvim_win_get_cursor(0)[1] >= change, 'the last change')
            t.press('q')
            t.equal(source, vim.api.nvim_get_current_buf(), 'q goes back to the source')
            t.equal(false, vim.wo.scrollbind, 'the source scrolls alone')
        end,
    },
    {
        ':KernelSkill assembly says what may follow, and what cannot be compared',
        function()
            local source = t.open('transpose.cu', t.example('transpose.cu'))
            t.cursor_on(source, '__syncthreads')
            t.ready(source)
            vim.cmd('KernelSkill assembly arm')
            t.contains(t.notifications[1], "'ptx', 'sass' and 'compare' can follow, not 'arm'")
            vim.cmd('KernelSkill assembly compare no-such-skill')
            t.wait_for('an answer', 60, function()
                return #t.notifications > 1
            end)
            t.contains(t.notifications[2], "no skill 'no-such-skill'")
            t.equal(nil, (window_of('transpose/after')), 'windows')
        end,
    },
}
