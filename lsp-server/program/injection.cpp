#include "lsp-server/program/injection.h"

#include "analysis/command/toolchain.h"
#include "engine/execution/gpu/toolkit_files.h"

#include <cstdlib>
#include <system_error>

namespace kernelskill::lsp {

Result<std::filesystem::path> injectedLibrary(const char* name) {
    if (const char* other = std::getenv(injectionVariable); other != nullptr && *other != '\0')
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "another tool is injected into CUDA programs", other,
                                     std::string("unset ") + injectionVariable});
    std::error_code ignored;
    auto library = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
    if (std::filesystem::exists(library, ignored))
        return library;
    return std::unexpected(Error{ErrorKind::Missing, "the library for the program is not here",
                                 library.string(),
                                 "build where CUDA's headers are found (12.6 or newer)"});
}

std::string cuptiFor(const Options& options) {
    analysis::ToolchainOptions wanted;
    if (!options.cudaPath.empty())
        wanted.cudaPath = options.cudaPath;
    const auto toolchain = analysis::findToolchain(wanted);
    return toolchain ? engine::gpu::cuptiLibraryOf(toolchain->toolkit).string() : std::string();
}

} // namespace kernelskill::lsp
