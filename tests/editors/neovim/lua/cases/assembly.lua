-- A kernel's code beside its source. Without a CUDA toolkit the server says what is missing.
local t = require('harness')
local assembly = require('kernelskill.assembly')

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
}
