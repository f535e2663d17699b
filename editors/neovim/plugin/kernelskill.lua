-- Starts KernelSkill for CUDA files. Nothing has to be called; options are in vim.g.kernelskill,
-- see :help kernelskill.
if vim.g.loaded_kernelskill then
    return
end
vim.g.loaded_kernelskill = true

require('kernelskill.user_command').define()
require('kernelskill').enable()
