--- Two versions of a kernel's code beside each other, as in diff mode: windows that scroll together, its colours, and `]c` and
--- `[c`. Which instructions belong together is the server's word: it takes registers of other numbers for the same, which a
--- diff of the texts would not.
local listing = require('kernelskill.assembly_listing')

local M = {}

local namespace = vim.api.nvim_create_namespace('kernelskill.assembly_compare')

--- By what has become of a row: its colour before and after.
local colours = {
    changed = { 'DiffChange', 'DiffChange' },
    removed = { 'DiffAdd', 'DiffDelete' },
    added = { 'DiffDelete', 'DiffAdd' },
}
--- Stands where the other version has an instruction, as in diff mode.
local gap = ('-'):rep(40)

--- "LDG.E 8 -> 0, LDG.E.128 0 -> 2": the largest change first.
local function opcodes_text(opcodes)
    if #opcodes == 0 then
        return 'as many of each instruction'
    end
    return table.concat(
        vim.tbl_map(function(change)
            return ('%s %d -> %d'):format(change.opcode, change.before, change.after)
        end, opcodes),
        ', '
    )
end

--- One side: 1 is before, 2 is after.
---@return string[] lines
---@return table<number, string> what has become of a line, by its number from 1 on
local function side_of(side, result)
    local version = result.versions[side]
    local is_path = version.label == version.file
    local lines = { '# ' .. (is_path and vim.fn.fnamemodify(version.label, ':~:.') or version.label) }
    vim.list_extend(lines, listing.facts(version))
    vim.list_extend(lines, { opcodes_text(result.difference.opcodes), '' })
    local changes = {}
    for _, row in ipairs(result.difference.rows) do
        local index = row[side == 1 and 'before' or 'after']
        lines[#lines + 1] = type(index) == 'number' and listing.line(version, version.instructions[index + 1]) or gap
        changes[#lines] = colours[row.change] and row.change or nil
    end
    return lines, changes
end

--- Goes to the next run of changed lines, or the one before, like `]c` and `[c` in diff mode.
local function go(changes, last, step)
    local line = vim.api.nvim_win_get_cursor(0)[1]
    while line >= 1 and line <= last and changes[line] do
        line = line + step
    end
    while line >= 1 and line <= last and not changes[line] do
        line = line + step
    end
    if line < 1 or line > last then
        return
    end
    -- The first line of the run, from below too.
    while changes[line - 1] do
        line = line - 1
    end
    vim.api.nvim_win_set_cursor(0, { line, 0 })
end

local function fill(side, result)
    local lines, changes = side_of(side, result)
    local name = ('kernelskill://assembly/%s/%s'):format(result.versions[side].kernel, side == 1 and 'before' or 'after')
    local bufnr = listing.buffer(name, lines, 'tabclose')
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    for line, change in pairs(changes) do
        local mark = { end_row = line, end_col = 0, hl_group = colours[change][side], hl_eol = true, strict = false }
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line - 1, 0, mark)
    end
    for key, step in pairs({ [']c'] = 1, ['[c'] = -1 }) do
        vim.keymap.set('n', key, function()
            go(changes, #lines, step)
        end, { buffer = bufnr, desc = 'To the next change, or the one before' })
    end
    return bufnr
end

local function set_window(bufnr)
    vim.api.nvim_win_set_buf(0, bufnr)
    vim.cmd('setlocal nowrap nonumber scrollbind cursorbind nofoldenable')
end

--- Shows the answer to kernelskill/assembly with two versions in a tab page of their own, the cursor in the second.
function M.show(result)
    local before, after = fill(1, result), fill(2, result)
    for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_buf(window) == after then
            vim.api.nvim_set_current_win(window)
            return
        end
    end
    vim.cmd('tab split')
    set_window(before)
    vim.cmd('rightbelow vsplit')
    set_window(after)
    vim.cmd('syncbind')
end

M.namespace = namespace

return M
