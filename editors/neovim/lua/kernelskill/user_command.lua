--- :KernelSkill and its subcommands.
local M = {}

local function starting_with(words, lead)
    return vim.tbl_filter(function(word)
        return vim.startswith(word, lead)
    end, words)
end

local function skill_ids(lead)
    local binary = require('kernelskill.binary').find()
    if not binary then
        return {}
    end
    local ok, skills = pcall(vim.fn.json_decode, vim.fn.system({ binary, 'skills', 'list', '--json' }))
    if not ok or type(skills) ~= 'table' then
        return {}
    end
    return starting_with(
        vim.tbl_map(function(skill)
            return skill.id
        end, skills),
        lead
    )
end

local function words(...)
    local list = { ... }
    return function(lead)
        return starting_with(list, lead)
    end
end

--- { rounds = 2 } of "rounds=2"; nil, and the user told, of what is no such thing.
local function limits_of(arguments)
    local limits = {}
    for _, argument in ipairs(arguments) do
        local name, value = argument:match('^(%a+)=(%d+)$')
        if name ~= 'rounds' and name ~= 'seconds' then
            vim.notify("kernelskill: 'rounds=N' and 'seconds=N' can follow, not '" .. argument .. "'", vim.log.levels.ERROR)
            return nil
        end
        limits[name] = tonumber(value)
    end
    return limits
end

local languages = { 'ptx', 'sass' }

--- { saved = true } without a name, else the file or the skill of that name.
local function baseline_of(name)
    if not name then
        return { saved = true }
    end
    local path = vim.fn.fnamemodify(vim.fn.expand(name), ':p')
    return vim.fn.filereadable(path) == 1 and { file = vim.uri_from_fname(path) } or { skill = name }
end

--- `[ptx|sass] [compare [file or skill]]`
local function show_assembly(arguments)
    local language = vim.tbl_contains(languages, arguments[1]) and table.remove(arguments, 1) or nil
    local against = nil
    if arguments[1] == 'compare' then
        against = baseline_of(table.concat(arguments, ' ', 2) ~= '' and table.concat(arguments, ' ', 2) or nil)
    elseif arguments[1] then
        vim.notify(
            "kernelskill: 'ptx', 'sass' and 'compare' can follow, not '" .. arguments[1] .. "'",
            vim.log.levels.ERROR
        )
        return
    end
    require('kernelskill.assembly').open(vim.api.nvim_get_current_buf(), language, against)
end

local function complete_assembly(lead, before)
    if before[#before] == 'compare' then
        return vim.list_extend(skill_ids(lead), vim.fn.getcompletion(lead, 'file'))
    end
    return starting_with(#before == 0 and { 'ptx', 'sass', 'compare' } or { 'compare' }, lead)
end

local function commands()
    return require('kernelskill.commands')
end

--- By name: what it does in a few words, how, and what may follow the words that stand before.
---@type table<string, {about: string, run: fun(arguments: string[]), complete: (fun(lead: string, before: string[]): string[])|nil}>
M.subcommands = {
    profile = {
        about = 'Run the kernel under the cursor and show what holds it back',
        run = function(arguments)
            commands().profile(vim.api.nvim_get_current_buf(), commands().here({ on = arguments[1] }))
        end,
        complete = words('emulator', 'gpu', 'slurm'),
    },
    optimize = {
        about = 'Search for edits that make the kernel under the cursor faster',
        run = function(arguments)
            local limits = limits_of(arguments)
            if limits then
                commands().optimize(vim.api.nvim_get_current_buf(), commands().here(limits))
            end
        end,
        complete = words('rounds=', 'seconds='),
    },
    apply = {
        about = 'Apply a skill that fits at the cursor, after verifying it',
        run = function(arguments)
            require('kernelskill.actions').apply_skill(arguments[1])
        end,
        complete = skill_ids,
    },
    repair = {
        about = 'Fix a compile error of this buffer',
        run = function()
            require('kernelskill.actions').repair()
        end,
    },
    pin = {
        about = 'Put the launch that is guessed for the kernel under the cursor above it, to be changed',
        run = function()
            commands().pin(vim.api.nvim_get_current_buf(), commands().here())
        end,
    },
    verify = {
        about = "Check the kernels of this file that differ from git's HEAD, or from another revision",
        run = function(arguments)
            commands().verify(vim.api.nvim_get_current_buf(), {
                uri = vim.uri_from_bufnr(0),
                against = arguments[1],
            })
        end,
    },
    memory = {
        about = 'Show what was tried on this file',
        run = function()
            commands().memory(vim.api.nvim_get_current_buf(), { uri = vim.uri_from_bufnr(0) })
        end,
    },
    assembly = {
        about = 'Show what the kernel under the cursor compiles to, linked with its lines, or compared with another version',
        run = show_assembly,
        complete = complete_assembly,
    },
    report = {
        about = 'Write what is known of the kernels of this file as a page with their roofline',
        run = function(arguments)
            commands().report(vim.api.nvim_get_current_buf(), table.concat(arguments, ' '))
        end,
        complete = function(lead)
            return vim.fn.getcompletion(lead, 'file')
        end,
    },
    program = {
        about = 'Pick the program that runs these kernels, build and run it, show which kernels take its time, or optimize these',
        run = function(arguments)
            local bufnr = vim.api.nvim_get_current_buf()
            local verb = table.remove(arguments, 1) or 'pick'
            if verb == 'pick' then
                local name = table.concat(arguments, ' ')
                commands().pick_program(bufnr, name ~= '' and name or nil)
            elseif verb == 'run' then
                commands().run_program(bufnr)
            elseif verb == 'profile' then
                commands().profile_program(bufnr)
            elseif verb == 'optimize' then
                commands().optimize_program(bufnr)
            else
                local known = "kernelskill: 'pick', 'run', 'profile' and 'optimize' can follow, not '"
                vim.notify(known .. verb .. "'", vim.log.levels.ERROR)
            end
        end,
        complete = words('pick', 'run', 'profile', 'optimize'),
    },
    cancel = {
        about = 'Cancel what runs',
        run = function()
            if require('kernelskill.execute').cancel() == 0 then
                vim.notify('kernelskill: nothing runs that could be cancelled', vim.log.levels.INFO)
            end
        end,
    },
    restart = {
        about = 'Stop the server and start it again',
        run = function()
            require('kernelskill').restart()
        end,
    },
    log = {
        about = "Open Neovim's log of language servers, which holds the server's messages",
        run = function()
            local path = vim.lsp.log and vim.lsp.log.get_filename and vim.lsp.log.get_filename()
                or vim.lsp.get_log_path()
            vim.cmd('tabnew ' .. vim.fn.fnameescape(path))
        end,
    },
}

local function names()
    local list = vim.tbl_keys(M.subcommands)
    table.sort(list)
    return list
end

--- Without a subcommand: a menu of them.
local function choose()
    vim.ui.select(names(), {
        prompt = 'KernelSkill',
        format_item = function(name)
            return ('%-9s %s'):format(name, M.subcommands[name].about)
        end,
    }, function(name)
        if name then
            M.subcommands[name].run({})
        end
    end)
end

local function run(arguments)
    local name = table.remove(arguments, 1)
    if not name then
        return choose()
    end
    local subcommand = M.subcommands[name]
    if not subcommand then
        vim.notify(
            ("kernelskill: there is no '%s'; there are %s"):format(name, table.concat(names(), ', ')),
            vim.log.levels.ERROR
        )
        return
    end
    subcommand.run(arguments)
end

--- Completes a command line at the cursor.
---@return string[]
function M.complete(lead, line)
    local before = vim.split(line:sub(1, #line - #lead), '%s+', { trimempty = true })
    -- ":silent KernelSkill profile": what counts stands after the command's name.
    while before[1] and not before[1]:match('KernelSkill$') do
        table.remove(before, 1)
    end
    if #before <= 1 then
        return starting_with(names(), lead)
    end
    local subcommand = M.subcommands[before[2]]
    return subcommand and subcommand.complete and subcommand.complete(lead, vim.list_slice(before, 3)) or {}
end

function M.define()
    vim.api.nvim_create_user_command('KernelSkill', function(options)
        run(options.fargs)
    end, {
        nargs = '*',
        complete = function(lead, line)
            return M.complete(lead, line)
        end,
        desc = 'KernelSkill: what holds a CUDA kernel back, and verified edits that help',
    })
end

return M
