#include "analysis/command/toolchain.h"

#include "analysis/source/files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): read at start-up only
    return value != nullptr ? value : "";
}

bool isDirectory(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

std::vector<fs::path> subdirectories(const fs::path& directory, std::string_view prefix) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string().starts_with(prefix) && isDirectory(it->path()))
            found.push_back(it->path());
    // Compare numbers, not letters, so that "cuda-9.2" precedes "cuda-13.0".
    std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
        const auto number = [](const fs::path& path) {
            const std::string name = path.filename().string();
            const auto digit = name.find_first_of("0123456789");
            return digit == std::string::npos ? 0.0 : std::strtod(name.c_str() + digit, nullptr);
        };
        return number(a) > number(b);
    });
    return found;
}

/// The include folder of a toolkit at `root`, e.g. include/ or targets/x86_64-linux/include/.
std::optional<fs::path> cudaInclude(const fs::path& root) {
    if (isFile(root / "include" / "cuda_runtime.h"))
        return root / "include";
    for (const fs::path& target : subdirectories(root / "targets", ""))
        if (isFile(target / "include" / "cuda_runtime.h"))
            return target / "include";
    return std::nullopt;
}

/// The value of `#define CUDART_VERSION`.
int readVersion(const fs::path& include) {
    constexpr std::string_view key = "#define CUDART_VERSION";
    std::ifstream header(include / "cuda_runtime_api.h");
    std::string line;
    while (std::getline(header, line))
        if (line.starts_with(key))
            return static_cast<int>(std::strtol(line.c_str() + key.size(), nullptr, 10));
    return 0;
}

std::optional<CudaToolkit> toolkitAt(const fs::path& root) {
    if (root.empty())
        return std::nullopt;
    const std::optional<fs::path> include = cudaInclude(root);
    if (!include)
        return std::nullopt;
    std::error_code error;
    const fs::path canonical = fs::canonical(root, error);
    return CudaToolkit{error ? root : canonical, readVersion(*include)};
}

/// The folder above the bin/ that contains nvcc, with symbolic links resolved.
fs::path toolkitOfNvcc() {
    const std::string path = environment("PATH");
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const fs::path candidate = fs::path(path.substr(begin, end - begin)) / "nvcc";
        std::error_code error;
        if (candidate.is_absolute() && isFile(candidate)) {
            const fs::path real = fs::canonical(candidate, error);
            if (!error)
                return real.parent_path().parent_path();
        }
        begin = end + 1;
    }
    return {};
}

std::optional<CudaToolkit> searchToolkit() {
    std::vector<fs::path> candidates = {environment("CUDA_HOME"), environment("CUDA_PATH"),
                                        toolkitOfNvcc(), "/usr/local/cuda"};
    const std::vector<fs::path> versioned = subdirectories("/usr/local", "cuda-");
    candidates.insert(candidates.end(), versioned.begin(), versioned.end());
    for (const fs::path& candidate : candidates)
        if (std::optional<CudaToolkit> toolkit = toolkitAt(candidate))
            return toolkit;
    return std::nullopt;
}

Result<fs::path> findClangResources(const fs::path& data) {
    std::vector<fs::path> candidates = {data / "clang"};
    for (const fs::path& llvm : subdirectories("/usr/lib", "llvm-22"))
        for (const fs::path& version : subdirectories(llvm / "lib" / "clang", "22"))
            candidates.push_back(version);
    for (const char* prefix : {"/usr/lib/clang", "/usr/local/lib/clang", "/usr/lib64/clang"})
        for (const fs::path& version : subdirectories(prefix, "22"))
            candidates.push_back(version);
    for (const fs::path& candidate : candidates)
        if (isFile(candidate / "include" / "stddef.h"))
            return candidate;
    return std::unexpected(Error{ErrorKind::Missing, "clang's built-in headers were not found", "",
                                 "Install libclang-common-22-dev"});
}

bool isSwitchedOn(const char* variable) {
    const std::string value = environment(variable);
    return !value.empty() && value != "0";
}

} // namespace

Result<fs::path> findDataDirectory() {
    std::vector<fs::path> candidates;
    if (const std::string configured = environment("KERNELSKILL_DATA_DIR"); !configured.empty())
        candidates.emplace_back(configured);
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (!error)
        candidates.push_back(executable.parent_path().parent_path() / "share" / "kernelskill");
    for (const fs::path& candidate : candidates)
        if (isDirectory(candidate / "prelude"))
            return fs::canonical(candidate, error);
    return std::unexpected(Error{ErrorKind::Missing, "the data files of KernelSkill were not found",
                                 candidates.empty() ? "" : candidates.front().string(),
                                 "Install them beside the program, in ../share/kernelskill, or set "
                                 "KERNELSKILL_DATA_DIR"});
}

Result<Toolchain> findToolchain(const ToolchainOptions& options) {
    const Result<fs::path> data = findDataDirectory();
    if (!data)
        return std::unexpected(data.error());
    Toolchain toolchain;
    toolchain.preludeInclude = *data / "prelude";
    const Result<fs::path> resources = findClangResources(*data);
    if (!resources)
        return std::unexpected(resources.error());
    toolchain.clangResourceDir = *resources;
    toolchain.preferToolkit = options.preferToolkit || isSwitchedOn("KERNELSKILL_PREFER_TOOLKIT");
    if (options.ignoreToolkit || isSwitchedOn("KERNELSKILL_IGNORE_TOOLKIT"))
        return toolchain;
    if (options.cudaPath) {
        toolchain.toolkit = toolkitAt(*options.cudaPath);
        if (!toolchain.toolkit)
            return std::unexpected(Error{
                ErrorKind::InvalidInput, "the configured CUDA path holds no include/cuda_runtime.h",
                options.cudaPath->string(), "Correct or clear kernelskill.parse.cudaPath"});
        return toolchain;
    }
    toolchain.toolkit = searchToolkit();
    return toolchain;
}

} // namespace kernelskill::analysis
