-- The program that runs a workspace's kernels: picked once, then run.
local t = require('harness')

local function lines_of(path)
    return vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or nil
end

--- Calls `body` while the user picks the program of this name from the list; returns what was listed.
local function picking(name, body)
    local select = vim.ui.select
    local listed
    vim.ui.select = function(items, options, on_choice)
        listed = vim.tbl_map(options.format_item, items)
        for _, item in ipairs(items) do
            if item.name == name then
                return on_choice(item)
            end
        end
    end
    local ok, problem = pcall(body)
    vim.ui.select = select
    t.is_true(ok, problem)
    return listed
end

--- Folder of the stand-in of driver and CUPTI that runs kernels on the host (tests/engine/capture/fake_gpu); nil where the
--- tests were not built, or not with CUDA's headers.
local function fake_gpu()
    local folder = vim.fn.fnamemodify(t.server, ':h:h') .. '/tests/engine/capture/fake_gpu'
    return vim.fn.executable(folder .. '/fake-nvcc') == 1 and folder or nil
end

local cuda_program = [[
__global__ void hot(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void cold(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

int main() {
    float* x;
    cudaMalloc(&x, 1 << 20);
    hot<<<64, 128>>>(x);
    cold<<<8, 128>>>(x);
    cudaDeviceSynchronize();
}
]]

--- A program whose kernel is faster with fewer threads.
local optimizable_program = table.concat(vim.fn.readfile(t.root .. '/tests/editors/optimizable.cu'), '\n') .. '\n'

--- A program on the stand-in, with `text` or the one above, in the current buffer; nil where there is no stand-in.
local function open_cuda_program(settings, text)
    local gpu = fake_gpu()
    if not gpu then
        return nil
    end
    local toolkit = vim.fn.tempname()
    vim.fn.mkdir(toolkit .. '/include', 'p')
    vim.fn.mkdir(toolkit .. '/lib64', 'p')
    vim.fn.writefile({}, toolkit .. '/include/cuda_runtime.h')
    vim.loop.fs_symlink(gpu .. '/libcupti.so.13', toolkit .. '/lib64/libcupti.so')
    vim.g.kernelskill = {
        path = t.server,
        settings = vim.tbl_deep_extend('force', {
            parse = { cudaPath = toolkit },
            gpu = { enabled = false },
            program = {
                small = {
                    command = './small',
                    build = gpu .. '/fake-nvcc a.cu small',
                    environment = { LD_LIBRARY_PATH = gpu },
                },
            },
        }, settings),
    }
    local bufnr, directory = t.open('a.cu', text or cuda_program)
    t.ready(bufnr)
    return bufnr, directory
end

local function float_with(text)
    for _, window in ipairs(vim.api.nvim_list_wins()) do
        local shown = t.text(vim.api.nvim_win_get_buf(window))
        if vim.api.nvim_win_get_config(window).relative == 'editor' and shown:find(text, 1, true) then
            return shown
        end
    end
end

return {
    {
        ':KernelSkill program profile lists kernels by their time, <CR> goes to the line, lenses say the share',
        function()
            local bufnr = open_cuda_program({})
            if not bufnr then
                return 'no stand-in of a GPU'
            end
            vim.cmd('KernelSkill program profile')
            local shown = t.wait_for('the profile', 60, function()
                return float_with('roofline')
            end)
            t.contains(shown, '# small')
            t.contains(shown, '88.9 %')
            t.contains(shown, 'hot(float*)  a.cu:1')
            t.contains(shown, 'GPU 0: kernels')
            vim.fn.search('cold(float')
            vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<CR>', true, false, true), 'xm', false)
            t.equal(bufnr, vim.api.nvim_get_current_buf(), 'the buffer after Enter')
            t.equal(5, vim.api.nvim_win_get_cursor(0)[1], 'the line of the kernel')
            t.wait_for_annotation(bufnr, 'void hot', '89 % of GPU time, 81.9 µs in small')
            vim.api.nvim_buf_set_lines(bufnr, 1, 2, false, { '    x[threadIdx.x] = 3;' })
            t.wait_for('no share over a kernel that has changed', 30, function()
                local lens = t.annotations(bufnr)[1]
                return lens and not lens:find('GPU time', 1, true)
            end)
            t.contains(t.annotations(bufnr)[5], '11 % of GPU time')
        end,
    },
    {
        'with profile.programOnSave a message says what has become of kernels',
        function()
            local bufnr = open_cuda_program({ profile = { programOnSave = true } })
            if not bufnr then
                return 'no stand-in of a GPU'
            end
            local function save(grid)
                vim.api.nvim_buf_set_lines(bufnr, 11, 12, false, { ('    hot<<<%d, 128>>>(x);'):format(grid) })
                vim.cmd('silent write')
            end
            local function wait_for(text)
                t.wait_for(text, 60, function()
                    return table.concat(t.notifications, '\n'):find(text, 1, true)
                end)
            end
            save(32)
            wait_for('small: 2 kernels, hot takes 80 % of GPU time')
            save(16)
            wait_for('small: 2 kernels: 1 faster, 1 same; hot: 2.00 times as fast, 41 µs to 20.5 µs')
        end,
    },
    {
        ':KernelSkill program optimize wants buffers written, and edits them with what is faster in the program',
        function()
            local bufnr = open_cuda_program({ preview = { optimize = false } }, optimizable_program)
            if not bufnr then
                return 'no stand-in of a GPU'
            end
            vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { '// new' })
            vim.cmd('KernelSkill program optimize')
            t.wait_for('the refusal', 30, function()
                return table.concat(t.notifications, '\n'):find('save a.cu first', 1, true)
            end)
            vim.cmd('silent write')
            vim.cmd('KernelSkill program optimize')
            t.wait_for('the edit', 120, function()
                return t.text(bufnr):find('hot<<<(64 + 3) / 4, 128>>>(x, 8192);', 1, true)
            end)
            t.contains(t.text(bufnr), 'reinterpret_cast<float4*>')
        end,
    },
    {
        ':KernelSkill program run asks once which program, and runs it',
        function()
            vim.g.kernelskill = {
                path = t.server,
                settings = {
                    program = {
                        small = { command = 'cp source small.out' },
                        large = { command = 'cp source large.out' },
                    },
                },
            }
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            vim.fn.writefile({ 'text' }, directory .. '/source')
            t.ready(bufnr)
            local listed = picking('small', function()
                vim.cmd('KernelSkill program run')
                t.wait_for('the program', 30, function()
                    return lines_of(directory .. '/small.out')
                end)
            end)
            t.equal({ 'large: cp source large.out', 'small: cp source small.out' }, listed, 'programs')
            t.equal({ 'small' }, lines_of(directory .. '/.kernelskill/picked-program'), 'what is kept')
            vim.fn.delete(directory .. '/small.out')
            vim.cmd('KernelSkill program run')
            t.wait_for('the program again, without a question', 30, function()
                return lines_of(directory .. '/small.out')
            end)
            t.equal(nil, lines_of(directory .. '/large.out'), 'the other program')
        end,
    },
    {
        ':KernelSkill program pick takes a name, and says what there is',
        function()
            vim.g.kernelskill = { path = t.server, settings = { program = { small = { command = 'true' } } } }
            local bufnr, directory = t.open('a.cu', t.example('saxpy.cu'))
            t.ready(bufnr)
            vim.cmd('KernelSkill program pick small')
            t.wait_for('the choice', 30, function()
                return lines_of(directory .. '/.kernelskill/picked-program')
            end)
            vim.cmd('KernelSkill program pick absent')
            t.wait_for('the refusal', 30, function()
                return table.concat(t.notifications, '\n'):find('there are: small', 1, true)
            end)
        end,
    },
}
