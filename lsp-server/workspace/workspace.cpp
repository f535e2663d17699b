#include "lsp-server/workspace/workspace.h"

#include "lsp-server/workspace/skill_folders.h"

#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace kernelskill::lsp {

namespace {

bool holds(const std::filesystem::path& folder, const std::filesystem::path& file) {
    return std::ranges::mismatch(folder, file).in1 == folder.end();
}

std::filesystem::path withoutTrailingSlash(const std::filesystem::path& path) {
    return path.has_filename() ? path : path.parent_path();
}

} // namespace

Workspace::Workspace(spdlog::logger& log) : log_(log) {}

void Workspace::addFolder(const std::filesystem::path& folder) {
    const auto path = withoutTrailingSlash(folder);
    if (std::ranges::find(folders_, path) == folders_.end())
        folders_.push_back(path);
}

void Workspace::removeFolder(const std::filesystem::path& folder) {
    std::erase(folders_, withoutTrailingSlash(folder));
}

std::filesystem::path Workspace::rootOf(const std::filesystem::path& file) const {
    std::filesystem::path best;
    for (const std::filesystem::path& folder : folders_) {
        if (holds(folder, file) && folder.native().size() > best.native().size())
            best = folder;
    }
    return best;
}

bool Workspace::isTrustedFolder(const std::filesystem::path& folder) const {
    if (clientTrust_ != ClientTrust::Unsaid)
        return clientTrust_ == ClientTrust::Trusted;
    return std::ranges::find(trustedNow_, folder) != trustedNow_.end() ||
           trustedFolders_.hold(folder);
}

bool Workspace::isTrusted(const std::filesystem::path& file) const {
    return isTrustedFolder(trustedUnit(file));
}

std::filesystem::path Workspace::trustedUnit(const std::filesystem::path& file) const {
    auto root = rootOf(file);
    return root.empty() ? file.parent_path() : root;
}

Result<void> Workspace::trust(const std::filesystem::path& folder) {
    trustedNow_.push_back(folder);
    return trustedFolders_.add(folder);
}

std::vector<std::filesystem::path> Workspace::trustedRoots() const {
    std::vector<std::filesystem::path> roots;
    std::ranges::copy_if(folders_, std::back_inserter(roots),
                         [&](const auto& folder) { return isTrustedFolder(folder); });
    return roots;
}

bool Workspace::configure(const Options& options) {
    auto folders = lsp::skillFolders(trustedRoots());
    if (compileCommands_ && options == options_ && folders == skillFolders_)
        return false;
    options_ = options;
    skillFolders_ = std::move(folders);
    compileCommands_ = std::make_shared<const analysis::CompileCommands>(
        options.fallbackFlags, options.compilationDatabase);
    makeEngine();
    return true;
}

void Workspace::reloadSkills() {
    skillFolders_ = lsp::skillFolders(trustedRoots());
    makeEngine();
}

void Workspace::makeEngine() {
    auto workbench = makeWorkbench(options_, skillFolders_);
    if (workbench) {
        workbench_ = std::move(*workbench);
        const auto& toolkit = workbench_->toolchain().toolkit;
        log_.info("CUDA headers: {}", toolkit ? toolkit->root.string() : "built in");
    } else {
        workbench_.reset();
        problem_ = workbench.error();
        log_.error("{}", problem_.describe());
    }
}

engine::gpu::SlurmJob slurmJob(const Options& options) {
    engine::gpu::SlurmJob job;
    job.srun = options.slurmSrun;
    job.partition = options.slurmPartition;
    job.gres = options.slurmGres;
    job.timeLimit = options.slurmTimeLimit;
    job.account = options.slurmAccount;
    job.arguments = options.slurmArguments;
    job.runner = options.slurmRunner;
    job.slots = static_cast<int>(std::clamp(options.slurmSlots, 1.0, 1024.0));
    job.idleTime =
        std::chrono::seconds(static_cast<int>(std::clamp(options.slurmIdleSeconds, 1.0, 86'400.0)));
    return job;
}

Result<std::shared_ptr<const engine::Workbench>>
makeWorkbench(const Options& options, std::vector<skills::SkillFolder> skillFolders) {
    analysis::ToolchainOptions toolchainOptions;
    if (!options.cudaPath.empty())
        toolchainOptions.cudaPath = options.cudaPath;
    toolchainOptions.ignoreToolkit = options.ignoreToolkit;
    auto toolchain = analysis::findToolchain(toolchainOptions);
    if (!toolchain)
        return std::unexpected(toolchain.error());
    auto data = analysis::findDataDirectory();
    if (!data)
        return std::unexpected(data.error());
    engine::WorkbenchOptions workbench;
    std::error_code ignored;
    workbench.executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
    workbench.torch = workbench.executable.parent_path() / "kernelskill-torch";
    const auto runner = workbench.executable.parent_path() / "kernelskill-runner";
    if (options.gpuEnabled && std::filesystem::exists(runner, ignored))
        workbench.runner = runner;
    if (options.gpuEnabled && options.gpuOn == "slurm") {
        workbench.slurm = slurmJob(options);
        if (!options.slurmRunner.empty())
            workbench.runner = options.slurmRunner;
    }
    workbench.asksSanitizer = options.gpuSanitizer;
    workbench.dataDirectory = std::move(*data);
    workbench.hostCompiler = options.hostCompiler;
    workbench.gpu = options.gpu;
    workbench.skillFolders = std::move(skillFolders);
    return std::make_shared<const engine::Workbench>(std::move(workbench), std::move(*toolchain));
}

} // namespace kernelskill::lsp
