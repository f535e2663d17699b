-- From a key to what it shows: what the client adds to the server's own time. docs/measurements/editors.md quotes it.
local t = require('harness')
local raw_client = require('raw_client')

local runs = 60
local most_added = 50 -- milliseconds

local function quantile(values, fraction)
    local sorted = vim.deepcopy(values)
    table.sort(sorted)
    return sorted[math.max(math.ceil(fraction * #sorted), 1)]
end

--- Both ways in turns, so that whatever else the machine does is in both.
---@param raw fun(): number milliseconds
---@param seen fun(): number milliseconds
local function compare(name, raw, seen)
    raw()
    seen()
    local raws, seens, added = {}, {}, {}
    for _ = 1, runs do
        raws[#raws + 1] = raw()
        seens[#seens + 1] = seen()
        added[#added + 1] = seens[#seens] - raws[#raws]
    end
    io.write(
        ('       %s, n = %d: server median %.2f p95 %.2f ms; key to screen median %.2f p95 %.2f ms; '):format(
            name,
            runs,
            quantile(raws, 0.5),
            quantile(raws, 0.95),
            quantile(seens, 0.5),
            quantile(seens, 0.95)
        ),
        ('client adds median %.2f p95 %.2f ms\n'):format(quantile(added, 0.5), quantile(added, 0.95))
    )
    t.is_true(quantile(added, 0.5) <= most_added, name .. ': the client adds more than 50 ms')
end

--- Milliseconds from the key to the moment when `is_shown` holds and the screen is drawn.
local function time_key(keys, is_shown)
    local began = vim.loop.hrtime()
    t.press(keys)
    assert(vim.wait(20000, is_shown, 1), keys .. ' showed nothing')
    vim.cmd('redraw')
    return (vim.loop.hrtime() - began) / 1e6
end

--- The example in Neovim and in a server that is asked without it; the cursor on the kernel's name.
local function both(body)
    local text = t.example('transpose.cu')
    local bufnr = t.open('transpose.cu', text)
    t.wait_for_annotation(bufnr, '__global__', 'Optimize')
    t.cursor_on(bufnr, 'transpose(float')
    local uri = vim.uri_from_bufnr(bufnr)
    local raw = raw_client.start(t.server, uri, text)
    local ok, problem = pcall(body, raw, vim.lsp.util.make_position_params(0, 'utf-16'))
    raw.close()
    t.is_true(ok, problem)
end

return {
    {
        'hover is on the screen at most 50 ms after the server has answered',
        function()
            both(function(raw, position)
                compare('hover', function()
                    return raw.ask('textDocument/hover', position)
                end, function()
                    local milliseconds = time_key('K', t.float)
                    t.close_floats()
                    return milliseconds
                end)
            end)
        end,
    },
    {
        'the menu of code actions is on the screen at most 50 ms after the server has answered',
        function()
            local select = vim.ui.select
            local is_shown
            vim.ui.select = function()
                is_shown = true
            end
            local ok, problem = pcall(both, function(raw, position)
                local params = {
                    textDocument = position.textDocument,
                    range = { start = position.position, ['end'] = position.position },
                    context = { diagnostics = {} },
                }
                compare('code actions', function()
                    return raw.ask('textDocument/codeAction', params)
                end, function()
                    is_shown = false
                    return time_key('gra', function()
                        return is_shown
                    end)
                end)
            end)
            vim.ui.select = select
            t.is_true(ok, problem)
        end,
    },
}
