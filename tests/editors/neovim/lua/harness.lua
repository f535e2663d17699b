--- Runs the cases in lua/cases, one after another, prints a line for each and a summary. Exit status 1 if one failed.
local M = {}

local server = vim.env.KERNELSKILL_TEST_SERVER
local root = vim.env.KERNELSKILL_TEST_ROOT
local scratch = vim.env.KERNELSKILL_TEST_SCRATCH

M.server, M.root, M.scratch = server, root, scratch
--- The Neovim that runs this, as a command.
M.nvim = vim.env.KERNELSKILL_TEST_NVIM
--- The messages of vim.notify since the case began.
M.notifications = {}

local serial = 0

--- Waits until `condition` is true or returns something; fails the case after `seconds`.
function M.wait_for(what, seconds, condition)
    local value
    local reached = vim.wait(seconds * 1000, function()
        value = condition()
        return value ~= nil and value ~= false
    end, 20)
    if not reached then
        error(('waited %d s for %s; notifications: %s'):format(seconds, what, vim.inspect(M.notifications)), 0)
    end
    return value
end

function M.equal(expected, actual, what)
    if not vim.deep_equal(expected, actual) then
        error(('%s: expected %s, got %s'):format(what, vim.inspect(expected), vim.inspect(actual)), 2)
    end
end

function M.is_true(condition, message)
    if not condition then
        error(message, 2)
    end
end

function M.contains(text, part)
    if not text:find(part, 1, true) then
        error(('expected to find %q in:\n%s'):format(part, text), 2)
    end
end

--- A file in a workspace of its own, opened in the current window.
---@return number buffer
---@return string directory
function M.open(name, text)
    serial = serial + 1
    local directory = ('%s/workspace%d'):format(scratch, serial)
    vim.fn.mkdir(directory .. '/.git', 'p')
    local path = directory .. '/' .. name
    vim.fn.writefile(vim.split(text, '\n'), path)
    vim.cmd('edit ' .. vim.fn.fnameescape(path))
    return vim.api.nvim_get_current_buf(), directory
end

function M.example(name)
    return table.concat(vim.fn.readfile(root .. '/examples/' .. name), '\n')
end

function M.text(bufnr)
    return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
end

--- Puts the cursor on the first character of the first occurrence of `pattern` (plain).
function M.cursor_on(bufnr, pattern)
    local number = M.line_with(bufnr, pattern)
    local line = vim.api.nvim_buf_get_lines(bufnr, number - 1, number, false)[1]
    vim.api.nvim_win_set_cursor(0, { number, line:find(pattern, 1, true) - 1 })
end

--- Types into the preview of an edit once it is open, and hands its lines to `look`. A key at once, which a user
--- who was typing may have meant for the buffer, is no answer.
function M.answer_preview(keys, look)
    local timer = vim.loop.new_timer()
    local opened
    timer:start(0, 50, vim.schedule_wrap(function()
        for _, window in ipairs(vim.api.nvim_list_wins()) do
            if not opened and vim.api.nvim_win_get_config(window).relative == 'editor' then
                opened = vim.loop.hrtime()
                look(M.text(vim.api.nvim_win_get_buf(window)))
                vim.api.nvim_input('y')
            end
        end
        if opened and vim.loop.hrtime() - opened > 0.9e9 and not timer:is_closing() then
            timer:close()
            vim.api.nvim_input(keys)
        end
    end))
end

--- The texts beside the lines of a buffer (from 1 on): code lenses and hints.
---@return table<number, string>
function M.annotations(bufnr)
    vim.cmd('redraw!') -- newer versions draw when the window is drawn
    local shown = {}
    for _, namespace in pairs(vim.api.nvim_get_namespaces()) do
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
            local details = mark[4]
            local rows = vim.list_extend({ details.virt_text or {} }, details.virt_lines or {})
            for _, chunks in ipairs(rows) do
                for _, chunk in ipairs(chunks) do
                    shown[mark[2] + 1] = (shown[mark[2] + 1] or '') .. chunk[1]
                end
            end
        end
    end
    return shown
end

--- The text beside the first line that holds `pattern` (plain), once that text holds `text`.
function M.wait_for_annotation(bufnr, pattern, text)
    local line = M.line_with(bufnr, pattern)
    return M.wait_for(('%q beside %q'):format(text, pattern), 30, function()
        local shown = M.annotations(bufnr)[line]
        return shown and shown:find(text, 1, true) and shown
    end)
end

--- Number (from 1 on) of the first line that holds `pattern` (plain).
function M.line_with(bufnr, pattern)
    for number, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
        if line:find(pattern, 1, true) then
            return number
        end
    end
    error(('no %q in:\n%s'):format(pattern, M.text(bufnr)), 2)
end

--- The floating window, if there is one, and its text.
function M.float()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= '' then
            return window, M.text(vim.api.nvim_win_get_buf(window))
        end
    end
    return nil
end

--- The text of the floating window, once it holds `text`.
function M.wait_for_float(text)
    return M.wait_for(('a window with %q'):format(text), 60, function()
        local _, shown = M.float()
        return shown and shown:find(text, 1, true) and shown
    end)
end

function M.close_floats()
    local window = M.float()
    while window do
        vim.api.nvim_win_close(window, true)
        window = M.float()
    end
end

--- Presses keys as if typed, mappings and all, and returns when they have been dealt with.
function M.press(keys)
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'mx', false)
end

--- The client's own messages to the user.
function M.told()
    return vim.tbl_filter(function(message)
        return vim.startswith(message, 'kernelskill: ')
    end, M.notifications)
end

--- Process ids of the servers that this Neovim has started.
function M.server_processes()
    return vim.tbl_filter(function(pid)
        local process = vim.api.nvim_get_proc(pid)
        return process and process.name == 'kernelskill'
    end, vim.api.nvim_get_proc_children(vim.fn.getpid()))
end

--- The client, once the server has answered initialize and published for the buffer.
function M.ready(bufnr)
    return M.wait_for('the server', 20, function()
        local client = require('kernelskill.compat').clients(bufnr)[1]
        return client and client.server_capabilities and client.initialized ~= false and client
    end)
end

local function reset()
    M.notifications = {}
    vim.g.kernelskill = { path = server }
    require('kernelskill.compat').stop_all()
    vim.cmd('silent! only! | silent! %bwipeout!')
end

function M.run()
    vim.notify = function(message)
        M.notifications[#M.notifications + 1] = message
    end
    vim.diagnostic.config({ virtual_text = false }) -- so that what is beside a line is a lens or a hint
    local passed, failed = 0, 0
    local files = vim.fn.sort(vim.fn.glob(root .. '/tests/editors/neovim/lua/cases/' .. (vim.env.KERNELSKILL_TEST_AREA or '*') .. '.lua', true, true))
    for _, file in ipairs(files) do
        local area = vim.fn.fnamemodify(file, ':t:r')
        for _, case in ipairs(dofile(file)) do
            local name, body = case[1], case[2]
            local began = vim.loop.hrtime()
            local ok, problem = pcall(reset)
            if ok then
                ok, problem = xpcall(body, function(e)
                    return type(e) == 'string' and e or vim.inspect(e)
                end)
            end
            local seconds = (vim.loop.hrtime() - began) / 1e9
            -- A case that returns something says why it proved nothing here.
            local remark = ok and problem and ' # skipped: ' .. problem or ''
            io.write(('%s %s: %s (%.2f s)%s\n'):format(ok and 'ok    ' or 'FAILED', area, name, seconds, remark))
            if ok then
                passed = passed + (remark == '' and 1 or 0)
            else
                failed = failed + 1
                io.write('       ' .. tostring(problem):gsub('\n', '\n       ') .. '\n')
            end
        end
    end
    pcall(reset)
    io.write(('%d passed, %d failed\n'):format(passed, failed))
    io.flush()
    vim.cmd(failed == 0 and passed > 0 and 'qall!' or 'cquit 1')
end

return M
