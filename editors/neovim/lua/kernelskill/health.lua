--- :checkhealth kernelskill
local M = {}

-- The names of these functions changed in Neovim 0.10.
local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local err = health.error or health.report_error
local info = health.info or health.report_info

--- The checks of `kernelskill doctor`. Something absent would help and is not needed.
local function check_doctor(binary)
    local output = vim.fn.system({ binary, 'doctor', '--json' })
    local decoded, doctor = pcall(vim.fn.json_decode, output)
    if not decoded or type(doctor) ~= 'table' or type(doctor.checks) ~= 'table' then
        err('`kernelskill doctor --json` gave no answer', { output })
        return
    end
    for _, check in ipairs(doctor.checks) do
        local text = check.name .. ': ' .. (check.detail or '')
        if check.status == 'broken' then
            err(text, { check.remedy })
        elseif check.status == 'absent' then
            info(text .. ' (' .. check.remedy .. ')')
        else
            ok(text)
        end
    end
end

function M.check()
    start('kernelskill: client')
    if vim.fn.has('nvim-0.7') == 0 then
        err('Neovim 0.7 or newer is needed')
        return
    end
    local version = vim.version()
    ok(('Neovim %d.%d.%d'):format(version.major, version.minor, version.patch))
    if not vim.lsp.inlay_hint then
        info('this Neovim has no inlay hints (0.10 or newer has); they are shown behind the line')
    end

    start('kernelskill: server')
    local binary, origin = require('kernelskill.binary').find()
    if not binary then
        err(origin, {
            'Unpack a release archive, or build it with script/demo. Put its bin folder on PATH, or set',
            "vim.g.kernelskill = { path = '/path/to/kernelskill' }",
            'Then :KernelSkill restart',
        })
        return
    end
    local version = vim.trim(vim.fn.system({ binary, '--version' }))
    if vim.v.shell_error ~= 0 then
        err(binary .. ' does not run', { version })
        return
    end
    ok(('%s (%s, found through: %s)'):format(version, binary, origin))
    local clients = require('kernelskill.compat').all_clients()
    if #clients == 0 then
        info('not running; it starts with the first buffer of filetype cuda')
    end
    for _, client in ipairs(clients) do
        ok('running for ' .. tostring(client.config.root_dir))
    end
    check_doctor(binary)
end

return M
