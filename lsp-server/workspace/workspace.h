/// The folders the user has open, the settings, and the engine they call for.
#pragma once

#include "analysis/command/compile_command.h"
#include "engine/workbench/workbench.h"
#include "lsp-server/configuration/options.h"
#include "lsp-server/workspace/trusted_folders.h"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace kernelskill::lsp {

/// What the client said at the start of the code of its workspace. Silence is not trust.
enum class ClientTrust : std::uint8_t { Unsaid, Trusted, NotTrusted };

/// Belongs to the loop's thread; what it hands out may be used anywhere.
class Workspace {
public:
    explicit Workspace(spdlog::logger& log);

    void addFolder(const std::filesystem::path& folder);
    void removeFolder(const std::filesystem::path& folder);
    [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }
    /// The innermost folder that holds `file`; empty when none does.
    [[nodiscard]] std::filesystem::path rootOf(const std::filesystem::path& file) const;

    /// Finds the toolchain and sets up the engine. False when `options`, and the folders that
    /// skills come from, are those in force.
    bool configure(const Options& options);
    /// The same with skills that have changed.
    void reloadSkills();
    [[nodiscard]] const Options& options() const { return options_; }

    /// Set once, before configure(): no setting of a workspace can say it.
    void setClientTrust(ClientTrust trust) { clientTrust_ = trust; }
    [[nodiscard]] ClientTrust clientTrust() const { return clientTrust_; }
    /// Whether kernels of `file` may be compiled and run: the client said so or, if it said
    /// nothing, the user trusts the folder.
    [[nodiscard]] bool isTrusted(const std::filesystem::path& file) const;
    /// The folder that trust is given to: the workspace folder that holds `file`, else its own.
    [[nodiscard]] std::filesystem::path trustedUnit(const std::filesystem::path& file) const;
    /// Trusts `folder` from now on, or for this session alone if the list cannot be written: then
    /// the error says why.
    [[nodiscard]] Result<void> trust(const std::filesystem::path& folder);

    /// Null when the installation is broken: problem() says how.
    [[nodiscard]] const std::shared_ptr<const engine::Workbench>& workbench() const {
        return workbench_;
    }
    [[nodiscard]] const Error& problem() const { return problem_; }
    [[nodiscard]] const std::shared_ptr<const analysis::CompileCommands>& compileCommands() const {
        return compileCommands_;
    }

private:
    spdlog::logger& log_;
    std::vector<std::filesystem::path> folders_;
    void makeEngine();
    [[nodiscard]] std::vector<std::filesystem::path> trustedRoots() const;
    [[nodiscard]] bool isTrustedFolder(const std::filesystem::path& folder) const;

    Options options_;
    std::vector<skills::SkillFolder> skillFolders_;
    ClientTrust clientTrust_ = ClientTrust::Unsaid;
    TrustedFolders trustedFolders_;
    std::vector<std::filesystem::path> trustedNow_; ///< For this session.
    std::shared_ptr<const engine::Workbench> workbench_;
    std::shared_ptr<const analysis::CompileCommands> compileCommands_;
    Error problem_;
};

/// The Slurm job that the settings ask for.
[[nodiscard]] engine::gpu::SlurmJob slurmJob(const Options& options);

/// The engine for `options`, with the skills of `skillFolders` behind its own. Missing when the
/// data files that belong to the executable are gone.
[[nodiscard]] Result<std::shared_ptr<const engine::Workbench>>
makeWorkbench(const Options& options, std::vector<skills::SkillFolder> skillFolders);

} // namespace kernelskill::lsp
