-- A user's work in a CUDA file, through Neovim's own functions and the client's commands.
local t = require('harness')
local actions = require('kernelskill.actions')

local function diagnostics_of(bufnr, severity)
    return vim.diagnostic.get(bufnr, severity and { severity = severity } or nil)
end

--- Diagnostics of the first analysis of the text; the server answers hover only after it.
local function wait_until_analysed(bufnr)
    local client = t.ready(bufnr)
    local reply
    require('kernelskill.compat').request(client, 'textDocument/codeLens', {
        textDocument = vim.lsp.util.make_text_document_params(bufnr),
    }, function(_, lenses)
        reply = lenses or {}
    end, bufnr)
    t.wait_for('the analysis', 30, function()
        return reply
    end)
    return client, reply
end

local function hover_at_cursor(bufnr)
    local client = t.ready(bufnr)
    local text
    require('kernelskill.compat').request(
        client,
        'textDocument/hover',
        vim.lsp.util.make_position_params(0, client.offset_encoding),
        function(_, result)
            local contents = result and result.contents
            text = type(contents) == 'table' and contents.value or contents or ''
        end,
        bufnr
    )
    return t.wait_for('hover', 20, function()
        return text
    end)
end

local function actions_at_cursor(bufnr, kinds)
    local found
    actions.list(bufnr, nil, kinds, function(list)
        found = list
    end)
    return t.wait_for('code actions', 20, function()
        return found
    end)
end

local function has_kind(list, kind)
    for _, action in ipairs(list) do
        if action.kind == kind then
            return action
        end
    end
    return nil
end

--- An example in a buffer, analysed, with the cursor on the kernel's name.
local function open_at_kernel(example, name)
    local bufnr = t.open('a.cu', t.example(example))
    wait_until_analysed(bufnr)
    t.cursor_on(bufnr, name)
    return bufnr
end

--- The errors, once there are some.
local function wait_for_errors(bufnr)
    return t.wait_for('an error', 20, function()
        local list = diagnostics_of(bufnr, vim.diagnostic.severity.ERROR)
        return #list > 0 and list
    end)
end

local function wait_for_no_error(bufnr)
    t.wait_for('no error', 20, function()
        return #diagnostics_of(bufnr, vim.diagnostic.severity.ERROR) == 0
    end)
end

local function has_padding(bufnr)
    return function()
        return t.text(bufnr):find('tile[TILE][TILE + 1]', 1, true)
    end
end

--- The text of the window that a command opens under this name.
local function wait_for_window(name)
    t.wait_for(name, 60, function()
        return vim.api.nvim_buf_get_name(0):find('kernelskill://' .. name, 1, true)
    end)
    return t.text(0)
end

local broken = t.example('transpose.cu'):gsub('__syncthreads', '__synchthreads')

return {
    {
        'a correct file has no error',
        function()
            local bufnr = t.open('a.cu', t.example('transpose.cu'))
            wait_until_analysed(bufnr)
            t.equal({}, diagnostics_of(bufnr, vim.diagnostic.severity.ERROR), 'errors')
        end,
    },
    {
        'a compile error is shown where it is, with source and code',
        function()
            local bufnr = t.open('a.cu', broken)
            local errors = wait_for_errors(bufnr)
            t.equal(1, #errors, 'number of errors')
            t.contains(errors[1].message, '__synchthreads')
            t.contains(vim.api.nvim_buf_get_lines(bufnr, errors[1].lnum, errors[1].lnum + 1, false)[1], '__synchthreads')
            t.equal('kernelskill', errors[1].source, 'source')
        end,
    },
    {
        'an error goes when it is corrected by hand, by an incremental change',
        function()
            local bufnr = t.open('a.cu', broken)
            wait_for_errors(bufnr)
            t.cursor_on(bufnr, '__synchthreads')
            vim.cmd('normal! ct(__syncthreads')
            wait_for_no_error(bufnr)
        end,
    },
    {
        'hover on a kernel names its bottleneck and the evidence',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            t.contains(hover_at_cursor(bufnr):lower(), 'bank')
        end,
    },
    {
        'a code lens stands over the kernel',
        function()
            local bufnr = t.open('a.cu', t.example('transpose.cu'))
            local _, lenses = wait_until_analysed(bufnr)
            t.is_true(#lenses > 0, 'no code lens')
            local line = vim.api.nvim_buf_get_lines(bufnr, lenses[1].range.start.line, lenses[1].range.start.line + 1, false)
            t.contains(line[1], '__global__')
        end,
    },
    {
        'the skill that fits is offered and the one that does not is not',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local list = actions_at_cursor(bufnr, { 'refactor.rewrite' })
            t.is_true(has_kind(list, 'refactor.rewrite.shared-memory-padding'), 'padding is not offered')
            t.is_true(not has_kind(list, 'refactor.rewrite.warp-shuffle-reduction'), 'there is no reduction here')
        end,
    },
    {
        'a skill is applied: the buffer holds the verified text and memory knows',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            vim.cmd('KernelSkill apply shared-memory-padding')
            t.wait_for('the edit', 60, has_padding(bufnr))
            t.equal({}, diagnostics_of(bufnr, vim.diagnostic.severity.ERROR), 'errors after the edit')

            vim.cmd('KernelSkill memory')
            local memory = wait_for_window('memory')
            t.contains(memory, 'shared-memory-padding')
            t.contains(memory, 'unmeasured')
        end,
    },
    {
        "Neovim's own code-action menu applies a skill as well",
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local select = vim.ui.select
            vim.ui.select = function(items, _, on_choice)
                for _, item in ipairs(items) do
                    -- A pair of client and action up to 0.9, a table with fields later.
                    local action = item.action or item[2]
                    if action.kind == 'refactor.rewrite.shared-memory-padding' then
                        return on_choice(item)
                    end
                end
            end
            vim.lsp.buf.code_action()
            local ok, problem = pcall(t.wait_for, 'the edit', 60, has_padding(bufnr))
            vim.ui.select = select
            t.is_true(ok, problem)
        end,
    },
    {
        'a skill is shown first where the settings say so, and is one step to undo',
        function()
            vim.g.kernelskill = { path = t.server, settings = { preview = { skills = true } } }
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local before = t.text(bufnr)
            local shown
            t.answer_preview('jky', function(text)
                shown = text
            end)
            vim.cmd('KernelSkill apply shared-memory-padding')
            t.wait_for('the edit', 60, has_padding(bufnr))
            t.contains(shown, 'Apply skill: ')
            t.contains(shown, 'unmeasured')
            t.contains(shown, '+++ ')
            t.contains(shown, 'tile[TILE][TILE + 1]')
            vim.cmd('undo')
            t.equal(before, t.text(bufnr), 'text after one undo')
        end,
    },
    {
        'a preview that is discarded changes nothing',
        function()
            vim.g.kernelskill = { path = t.server, settings = { preview = { skills = true } } }
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local before = t.text(bufnr)
            local action = has_kind(actions_at_cursor(bufnr, { 'refactor.rewrite' }), 'refactor.rewrite.shared-memory-padding')
            t.answer_preview('n', function() end)
            local is_done
            actions.apply(action, t.ready(bufnr), bufnr, function()
                is_done = true
            end)
            t.wait_for('the reply', 60, function()
                return is_done
            end)
            t.equal(before, t.text(bufnr), 'text')
        end,
    },
    {
        ':KernelSkill optimize can be cancelled and changes nothing then',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local before = t.text(bufnr)
            vim.cmd('KernelSkill optimize')
            t.wait_for('progress', 30, function()
                return require('kernelskill').status(bufnr):find('Optimizing', 1, true)
            end)
            vim.cmd('KernelSkill cancel')
            t.wait_for('the end', 60, function()
                return require('kernelskill.execute').cancel() == 0
            end)
            t.equal(before, t.text(bufnr), 'text')
            vim.cmd('KernelSkill cancel')
            t.contains(t.notifications[#t.notifications], 'nothing runs')
        end,
    },
    {
        'an action chosen for an older text is refused and changes nothing',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            local list = actions_at_cursor(bufnr, { 'refactor.rewrite' })
            local action = has_kind(list, 'refactor.rewrite.shared-memory-padding')
            t.is_true(action, 'padding is not offered')
            vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { '// a new first line' })
            local text = t.text(bufnr)
            local err, is_done
            actions.apply(action, t.ready(bufnr), bufnr, function(problem)
                err, is_done = problem, true
            end)
            t.wait_for('the reply', 30, function()
                return is_done
            end)
            t.is_true(err, 'the stale action was resolved')
            t.equal(text, t.text(bufnr), 'text')
        end,
    },
    {
        'a skill that does not fit says so and changes nothing',
        function()
            local bufnr = open_at_kernel('saxpy.cu', 'saxpy(int')
            local text = t.text(bufnr)
            vim.cmd('KernelSkill apply shared-memory-padding')
            t.wait_for('a message', 20, function()
                return #t.notifications > 0
            end)
            t.contains(t.notifications[1], "'shared-memory-padding' does not fit here")
            t.equal(text, t.text(bufnr), 'text')
        end,
    },
    {
        ':KernelSkill repair fixes a misspelled intrinsic',
        function()
            local bufnr = t.open('a.cu', broken)
            wait_for_errors(bufnr)
            vim.cmd('KernelSkill repair')
            t.wait_for('the fix', 30, function()
                return t.text(bufnr) == t.example('transpose.cu')
            end)
            wait_for_no_error(bufnr)
        end,
    },
    {
        ':KernelSkill profile shows launch, bottleneck and metrics',
        function()
            local bufnr = open_at_kernel('transpose.cu', 'transpose(float')
            vim.cmd('KernelSkill profile')
            local text = wait_for_window('profile/transpose')
            t.contains(text, 'Bottleneck: bank-conflicts')
            t.contains(text, 'block 32 x 32 x 1')
            t.contains(text, 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared')
        end,
    },
}
