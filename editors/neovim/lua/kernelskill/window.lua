--- Floating windows with text to read. `q` or Escape closes one, Enter goes to the place that a line tells of.
local M = {}

--- The places that lines tell of, by buffer.
local places_of = {}

local function find(title)
    local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(title, '[]*?,{}\\') .. '$')
    return bufnr ~= -1 and bufnr or nil
end

--- A scratch buffer of that name, filled.
local function buffer_of(title, lines)
    local bufnr = find(title)
    if not bufnr then
        bufnr = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_name(bufnr, title)
        vim.bo[bufnr].bufhidden = 'hide'
        -- The colours alone: a filetype would start what others do for it.
        vim.bo[bufnr].syntax = 'markdown'
    end
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    vim.bo[bufnr].modifiable = false
    return bufnr
end

--- Rows on the screen that the lines take at this width, wrapped.
local function rows_of(lines, width)
    local rows = 0
    for _, line in ipairs(lines) do
        rows = rows + math.max(math.ceil(vim.fn.strdisplaywidth(line) / width), 1)
    end
    return rows
end

local function layout(lines)
    local widest = 40
    for _, line in ipairs(lines) do
        widest = math.max(widest, vim.fn.strdisplaywidth(line))
    end
    local width = math.max(math.min(widest + 1, vim.o.columns - 8, 110), 1)
    local height = math.max(math.min(rows_of(lines, width), vim.o.lines - 8), 1)
    return {
        relative = 'editor',
        row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
        col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
        width = width,
        height = height,
        style = 'minimal',
        border = 'rounded',
    }
end

local function go_to(place)
    vim.cmd("normal! m'")
    if vim.api.nvim_buf_get_name(0) ~= place.file then
        vim.cmd('edit ' .. vim.fn.fnameescape(place.file))
    end
    local line = math.min(place.line + 1, vim.api.nvim_buf_line_count(0))
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd('normal! ^')
end

--- Shows the lines; the same window again for the same name.
---@param name string as in kernelskill://profile/saxpy
---@param lines string[]
---@param places table<number, {file: string, line: number}>|nil by line, from 1 on; their lines from 0 on
---@return number window
function M.show(name, lines, places)
    local bufnr = buffer_of('kernelskill://' .. name, lines)
    places_of[bufnr] = places
    local window = vim.fn.bufwinid(bufnr)
    if window == -1 then
        window = vim.api.nvim_open_win(bufnr, true, layout(lines))
    else
        vim.api.nvim_win_set_config(window, layout(lines))
        vim.api.nvim_set_current_win(window)
    end
    vim.wo[window].wrap = true
    vim.wo[window].linebreak = true
    vim.wo[window].breakindent = true
    vim.wo[window].cursorline = places ~= nil and next(places) ~= nil
    vim.api.nvim_win_set_cursor(window, { 1, 0 })
    local function close()
        vim.api.nvim_win_close(0, true)
    end
    for _, key in ipairs({ 'q', '<Esc>' }) do
        vim.keymap.set('n', key, close, { buffer = bufnr, nowait = true, desc = 'Close' })
    end
    vim.keymap.set('n', '<CR>', function()
        local place = (places_of[bufnr] or {})[vim.api.nvim_win_get_cursor(0)[1]]
        if place then
            close()
            go_to(place)
        end
    end, { buffer = bufnr, desc = 'Go to the line' })
    return window
end

--- Changes the lines of a window that is open; leaves the cursor where it is, and opens none.
---@param name string as in M.show
function M.update(name, lines, places)
    local bufnr = find('kernelskill://' .. name)
    if bufnr and vim.fn.bufwinid(bufnr) ~= -1 then
        buffer_of('kernelskill://' .. name, lines)
        places_of[bufnr] = places
    end
end

return M
