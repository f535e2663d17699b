--- A floating window with a diff, and a question. The server waits for the answer, so the window takes the keys until
--- there is one.
local M = {}

local help = 'y: apply   n: discard   j k CTRL-D CTRL-U: scroll'

local accepting = { y = true, Y = true, ['\r'] = true }
local declining = { n = true, N = true, q = true, ['\27'] = true, ['\3'] = true }
--- Keys that move in the window, and what they are in Normal mode.
local moving = { j = '\5', k = '\25', ['\4'] = '\4', ['\21'] = '\21', ['\6'] = '\6', ['\2'] = '\2', g = 'gg', G = 'G' }

--- A key counts as an answer after so many milliseconds without one: a user who is typing when the window opens does not
--- answer it.
local pause = 600

local function open(lines)
    local bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    vim.bo[bufnr].filetype = 'diff'
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr].bufhidden = 'wipe'
    local width = #help
    for _, line in ipairs(lines) do
        width = math.max(width, vim.fn.strdisplaywidth(line))
    end
    width = math.max(math.min(width, vim.o.columns - 4), 1)
    local height = math.max(math.min(#lines, vim.o.lines - 6), 1)
    local window = vim.api.nvim_open_win(bufnr, false, {
        relative = 'editor',
        row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
        col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
        width = width,
        height = height,
        style = 'minimal',
        border = 'single',
    })
    vim.wo[window].wrap = false
    return window
end

--- Shows the lines and waits for the user.
---@param lines string[]
---@return boolean accepted
function M.confirm(lines)
    local window = open(lines)
    local accepted = false
    local last = vim.loop.hrtime()
    while vim.api.nvim_win_is_valid(window) do
        vim.cmd('redraw')
        vim.api.nvim_echo({ { 'kernelskill: ' .. help, 'Question' } }, false, {})
        local ok, key = pcall(vim.fn.getcharstr)
        local now = vim.loop.hrtime()
        local is_answer = last == nil or now - last > pause * 1e6
        last = not is_answer and now or nil
        accepted = ok and is_answer and accepting[key] == true
        if not ok or accepted or (is_answer and declining[key]) then
            break
        end
        if is_answer and moving[key] then
            vim.api.nvim_win_call(window, function()
                vim.cmd('normal! ' .. moving[key])
            end)
        end
    end
    if vim.api.nvim_win_is_valid(window) then
        vim.api.nvim_win_close(window, true)
    end
    vim.cmd('redraw')
    vim.api.nvim_echo({ { '' } }, false, {})
    return accepted
end

return M
