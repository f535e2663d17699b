-- The configuration that Neovim 0.11 and newer find by name: vim.lsp.config('kernelskill', {...}) adds to it.
return require('kernelskill').client_config()
