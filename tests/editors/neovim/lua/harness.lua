--- Runs the cases in lua/cases, one after another, prints a line for each and a summary. Exit status 1 if one failed.
local M = {}

local server = vim.env.KERNELSKILL_TEST_SERVER
local root = vim.env.KERNELSKILL_TEST_ROOT
local scratch = vim.env.KERNELSKILL_TEST_SCRATCH

M.server, M.root, M.scratch = server, root, scratch
--- What vim.notify was called with since the case began.
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
    for number, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
        local column = line:find(pattern, 1, true)
        if column then
            vim.api.nvim_win_set_cursor(0, { number, column - 1 })
            return
        end
    end
    error(('no %q in the buffer'):format(pattern), 2)
end

--- Types into the preview of an edit once it is open, and hands its lines to `look`. A key at once, which somebody
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
    vim.notify_once = vim.notify
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
            io.write(('%s %s: %s (%.2f s)\n'):format(ok and 'ok    ' or 'FAILED', area, name, seconds))
            if ok then
                passed = passed + 1
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
