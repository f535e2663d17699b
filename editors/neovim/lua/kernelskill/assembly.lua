--- A kernel's PTX or SASS beside its source: where the cursor is in one, the other shows what belongs to it.
local execute = require('kernelskill.execute')

local M = {}

local namespace = vim.api.nvim_create_namespace('kernelskill.assembly')

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

--- Lines of a listing, and the links: of each of its lines (from 1 on) the source lines (from 0 on) that it came from.
---@return string[] lines
---@return table<number, number[]> links
local function listing(version)
    local facts = version.facts
    local lines = {
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
    for _, note in ipairs(version.notes) do
        lines[#lines + 1] = note
    end
    local links = {}
    local labels = {}
    for _, label in ipairs(version.labels) do
        labels[label.before] = labels[label.before] or {}
        table.insert(labels[label.before], label.name)
    end
    local functions = {}
    for _, called in ipairs(version.functions) do
        functions[called.first] = called.name
    end
    for index, instruction in ipairs(version.instructions) do
        if instruction.class ~= 'padding' then
            if functions[index - 1] then
                vim.list_extend(lines, { '', functions[index - 1] .. ':' })
            end
            vim.list_extend(lines, labels[index - 1] or {})
            local shown = type(instruction.shown) == 'table' and instruction.shown or nil
            local number = shown and version.files[shown.file + 1].path == version.file and shown.line + 1 or ''
            lines[#lines + 1] = ('%6s  %s'):format(number, instruction.text)
            local own = {}
            for _, place in ipairs(instruction.places) do
                if version.files[place.file + 1].path == version.file then
                    own[#own + 1] = place.line
                end
            end
            links[#lines] = own
        end
    end
    return lines, links
end

local function highlight(bufnr, line)
    if vim.api.nvim_buf_is_loaded(bufnr) and line < vim.api.nvim_buf_line_count(bufnr) then
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, { line_hl_group = 'Visual' })
    end
end

local function clear(...)
    for _, bufnr in ipairs({ ... }) do
        if vim.api.nvim_buf_is_loaded(bufnr) then
            vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
        end
    end
end

--- Keeps the highlights of both buffers true while the text is the one that was compiled.
local function link(source, shown, links)
    local compiled = vim.api.nvim_buf_get_changedtick(source)
    local by_source = {}
    for line, places in pairs(links) do
        for _, place in ipairs(places) do
            by_source[place] = by_source[place] or {}
            table.insert(by_source[place], line)
        end
    end
    local group = vim.api.nvim_create_augroup('kernelskill.assembly', { clear = true })
    local function is_stale()
        return vim.api.nvim_buf_get_changedtick(source) ~= compiled
    end
    vim.api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter' }, {
        group = group,
        buffer = source,
        callback = function()
            clear(source, shown)
            if is_stale() then
                return
            end
            local lines = by_source[vim.api.nvim_win_get_cursor(0)[1] - 1]
            if not lines then
                return
            end
            table.sort(lines)
            for _, line in ipairs(lines) do
                highlight(shown, line - 1)
            end
            local window = vim.fn.bufwinid(shown)
            if window ~= -1 then
                vim.api.nvim_win_set_cursor(window, { lines[1], 0 })
            end
        end,
    })
    vim.api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter' }, {
        group = group,
        buffer = shown,
        callback = function()
            clear(source, shown)
            local places = links[vim.api.nvim_win_get_cursor(0)[1]]
            if is_stale() or not places then
                return
            end
            for _, line in ipairs(places) do
                highlight(source, line)
            end
            local window = vim.fn.bufwinid(source)
            if window ~= -1 and places[1] then
                vim.api.nvim_win_set_cursor(window, { places[1] + 1, 0 })
            end
        end,
    })
    vim.api.nvim_create_autocmd('TextChanged', {
        group = group,
        buffer = source,
        callback = function()
            clear(source, shown)
        end,
    })
    vim.api.nvim_create_autocmd('BufWinLeave', {
        group = group,
        buffer = shown,
        callback = function()
            clear(source, shown)
            vim.api.nvim_del_augroup_by_id(group)
        end,
    })
end

local function show(source, version)
    local lines, links = listing(version)
    local title = 'kernelskill://assembly/' .. version.kernel
    local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(title, '[]*?') .. '$')
    if bufnr == -1 then
        bufnr = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_name(bufnr, title)
        vim.bo[bufnr].bufhidden = 'hide'
        vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = bufnr, desc = 'Close' })
    end
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
    vim.bo[bufnr].modifiable = false
    vim.bo[bufnr].filetype = 'asm'
    if vim.fn.bufwinid(bufnr) == -1 then
        local window = vim.api.nvim_get_current_win()
        vim.cmd('rightbelow vsplit')
        vim.api.nvim_win_set_buf(0, bufnr)
        vim.wo.wrap = false
        vim.wo.number = false
        vim.api.nvim_set_current_win(window)
    end
    link(source, bufnr, links)
    return bufnr
end

--- Shows the kernel under the cursor. `language`: 'ptx', 'sass', or nil for SASS where it can be had.
function M.open(bufnr, language)
    local params = {
        textDocument = { uri = vim.uri_from_bufnr(bufnr) },
        line = vim.api.nvim_win_get_cursor(0)[1] - 1,
        language = language,
    }
    local asked = vim.api.nvim_buf_get_changedtick(bufnr)
    execute.request(bufnr, 'kernelskill/assembly', params, function(result, err)
        if err then
            return
        end
        if vim.api.nvim_buf_get_changedtick(bufnr) ~= asked then
            vim.notify('kernelskill: the buffer changed meanwhile; ask again', vim.log.levels.WARN)
        else
            show(bufnr, result.versions[1])
        end
    end)
end

M.namespace = namespace

return M
