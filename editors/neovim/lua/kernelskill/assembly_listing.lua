--- A version of a kernel's code as lines of text: its facts, and its instructions with the source line that each came from.
local M = {}

--- "1 barrier, 26 integer": the most frequent class first.
local function counts_text(counts)
    local classes = vim.tbl_filter(function(class)
        return class ~= 'padding'
    end, vim.tbl_keys(counts))
    table.sort(classes, function(a, b)
        if counts[a] ~= counts[b] then
            return counts[a] > counts[b]
        end
        return a < b
    end)
    return table.concat(
        vim.tbl_map(function(class)
            return ('%d %s'):format(counts[class], class)
        end, classes),
        ', '
    )
end

--- The compiler's words about the version.
---@return string[] always as many
function M.facts(version)
    local facts = version.facts
    return {
        ('# %s  %s for %s, %s'):format(version.kernel, version.language:upper(), version.architecture, version.compiler),
        ('%d registers, spills %d + %d bytes, %d bytes of stack, %d bytes of static shared memory'):format(
            facts.registers,
            facts.spill_store_bytes,
            facts.spill_load_bytes,
            facts.stack_bytes,
            facts.shared_bytes
        ),
        ('%d instructions: %s'):format(version.total, counts_text(version.counts)),
    }
end

--- The instruction behind the number of the line that it is shown at, from 1 on, where that is in the version's own file.
function M.line(version, instruction)
    local shown = type(instruction.shown) == 'table' and instruction.shown or nil
    local number = shown and version.files[shown.file + 1].path == version.file and shown.line + 1 or ''
    return ('%6s  %s'):format(number, instruction.text)
end

--- A scratch buffer of that name with the lines; `q` runs `close` in its window.
---@return number
function M.buffer(name, lines, close)
    local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?') .. '$')
    if bufnr == -1 then
        bufnr = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_name(bufnr, name)
        vim.bo[bufnr].bufhidden = 'hide'
        vim.keymap.set('n', 'q', '<cmd>' .. close .. '<cr>', { buffer = bufnr, desc = 'Close' })
    end
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr].filetype = 'asm'
    return bufnr
end

return M
