--- A kernel's PTX or SASS beside its source: where the cursor is in one, the other shows what belongs to it.
local execute = require('kernelskill.execute')
local listing = require('kernelskill.assembly_listing')

local M = {}

local namespace = vim.api.nvim_create_namespace('kernelskill.assembly')

--- Lines of a listing, and the links: of each of its lines (from 1 on) the source lines (from 0 on) that it came from.
---@return string[] lines
---@return table<number, number[]> links
local function linked(version)
    local lines = listing.facts(version)
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
            lines[#lines + 1] = listing.line(version, instruction)
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
    local lines, links = linked(version)
    local bufnr = listing.buffer('kernelskill://assembly/' .. version.kernel, lines, 'close')
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

--- Shows the kernel under the cursor. `language`: 'ptx', 'sass', or nil for SASS where it can be had. `against`: nil, or what
--- it is compared with, as the request has it: { saved = true }, { file = URI } or { skill = id }.
function M.open(bufnr, language, against)
    local params = {
        textDocument = { uri = vim.uri_from_bufnr(bufnr) },
        line = vim.api.nvim_win_get_cursor(0)[1] - 1,
        language = language,
        against = against,
    }
    local asked = vim.api.nvim_buf_get_changedtick(bufnr)
    execute.request(bufnr, 'kernelskill/assembly', params, function(result, err)
        if err then
            return
        end
        if against then
            require('kernelskill.assembly_compare').show(result)
        elseif vim.api.nvim_buf_get_changedtick(bufnr) ~= asked then
            vim.notify('kernelskill: the buffer changed meanwhile; ask again', vim.log.levels.WARN)
        else
            show(bufnr, result.versions[1])
        end
    end)
end

M.namespace = namespace

return M
